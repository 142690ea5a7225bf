"""What the experiments came to, as charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tag2box.evaluation import Verdict
from tag2box.experiments.bench.figures_of_merit import PRECISION, QUERY
from tag2box.experiments.bench.rows import Row, RowResult
from tag2box.experiments.bench.trust import TrustTrial, judged, reliability
from tag2box.methods.calibration import Calibration
from tag2box.methods.lineup import LINEUP
from tag2box.sphere import KAPPA_RULES
from tag2box.viz import Curve, draw_curves, draw_shares

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEPS = "em-"
"""How the names of the methods begin that stop EM after some steps."""
DIMENSION = 512
"""Of the paper's features, and of ours."""


def steps_chart(results: Mapping[Row, RowResult]) -> Figure | None:
    """CorLoc and precision against the number of EM steps, if such rows are there."""
    rows = {row: result for row, result in results.items() if row.method.startswith(STEPS)}
    if not rows:
        return None
    places = np.array([int(row.method.removeprefix(STEPS)) for row in rows])
    curves = {}
    for measure in (QUERY, PRECISION):
        figures = [result.figures[measure] for result in rows.values()]
        value, low, high = (
            100.0 * np.array([getattr(figure, name) for figure in figures]) for name in ("value", "low", "high")
        )
        curves[measure] = Curve(places, value, low, high)
    return draw_curves(f"EM on {next(iter(rows)).dataset}", "EM steps", "%", curves)


def misses_chart(results: Mapping[Row, RowResult]) -> Figure | None:
    """What the best region of the query images shows, method by method, with the fewest ways and shots of a table."""
    ways, shots = min(((row.ways, row.shots) for row in results), default=(0, 0))
    shares = {}
    for row, result in results.items():
        found = [verdict for verdicts in result.query for verdict in verdicts]
        if found and (row.ways, row.shots) == (ways, shots):
            shares[LINEUP[row.method].title] = [found.count(kind) / len(found) for kind in Verdict]
    if not shares:
        return None
    return draw_shares(f"What the chosen box shows, N = {ways}, K = {shots}", [str(kind) for kind in Verdict], shares)


def kappa_chart() -> Figure:
    """The rules for the concentration against the mean resultant length."""
    lengths = np.linspace(0.02, 0.98, 97)
    curves = {name: Curve(lengths, np.asarray(rule(lengths, DIMENSION))) for name, rule in KAPPA_RULES.items()}
    return draw_curves(f"Estimates of κ, d = {DIMENSION}", "mean resultant length", "κ", curves, log=True)


def reliability_chart(trials: Sequence[TrustTrial], calibration: Calibration, dataset: str) -> Figure:
    """The share of wrong boxes, and of wrong tags, against what was expected."""
    curves = {"as it should be": Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]))}
    for name, judge, kind in (
        ("box is wrong", calibration.wrong, "wrong"),
        ("tag is wrong", calibration.absent, "absent"),
    ):
        expected, happened, _ = reliability(*judged(trials, judge, kind))
        curves[name] = Curve(expected, happened)
    return draw_curves(f"Doubt on {dataset}", "expected chance", "share that happened", curves)

"""Two methods on the same tasks: by how much one beats the other, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.errors import ResultError
from tag2box.evaluation import Interval, jackknife_interval, paired_difference
from tag2box.evaluation.intervals import Statistic
from tag2box.experiments.bench.figures_of_merit import PRECISION, QUERY, RESAMPLES, macro_corloc, query_hits
from tag2box.experiments.bench.rows import Row, RowResult
from tag2box.experiments.bench.specification import Expectation, Specification


@final
@dataclass(frozen=True)
class Comparison:
    """What became of an expectation at one number of ways and shots."""

    expectation: Expectation
    ways: int
    shots: int
    difference: Interval

    @property
    def words(self) -> str:
        """Whether reality agrees."""
        if self.difference.low > 0:
            return "yes"
        return "no" if self.difference.high < 0 else "not decided"


def comparisons(specification: Specification, results: Mapping[Row, RowResult]) -> list[Comparison]:
    """Every expectation, wherever both of its methods were run."""
    found = {(row.method, row.ways, row.shots): (row, result) for row, result in results.items()}
    judged = []
    for claim in specification.expect:
        for (method, ways, shots), (row, better) in found.items():
            if method == claim.better and (claim.worse, ways, shots) in found:
                _, worse = found[claim.worse, ways, shots]
                judged.append(Comparison(claim, ways, shots, difference(better, worse, claim.measure, row.tasks)))
    return judged


def difference(better: RowResult, worse: RowResult, measure: str, tasks: int) -> Interval:
    """How much better, paired by task."""
    if (better.tasks, better.labels) != (worse.tasks, worse.labels):
        raise ResultError(
            "two results that are compared come from different tasks.",
            "results of one experiment",
            "delete them and run the experiment again.",
        )
    if measure == PRECISION:
        gap = better.figures[PRECISION].value - worse.figures[PRECISION].value
        return jackknife_interval(gap, np.subtract(better.precision_without, worse.precision_without), tasks)
    rng = np.random.default_rng(0)
    return paired_difference(
        _statistic(better, measure, tasks), _statistic(worse, measure, tasks), tasks, rng, resamples=RESAMPLES
    )


def _statistic(result: RowResult, measure: str, tasks: int) -> Statistic:
    hits = [query_hits(query) for query in result.query] if measure == QUERY else list(result.support)
    return macro_corloc(result.labels, result.tasks, hits, tasks)

"""All photos of one class at once: EM against MI-SVM on the same features with the same objectness.

    python benchmarks/mi_svm.py STORE TRUTH [--label person] [--positives 650] [--negatives 1950]

STORE has the features of the photos of TRUTH (tag2box extract). The answers of the two differ, so their CorLoc is
printed beside the ratio. MI-SVM keeps the hardest region of each photo without the class, each region once, and solves
its dual by the coordinate that violates its condition most; features are read in half precision by the same code for
both.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from measuring import Finding, compare
from tag2box.arrays import Array, log_odds
from tag2box.data import read_dataset
from tag2box.evaluation import is_correct
from tag2box.methods.localizers import OddsBackground, VmfMil
from tag2box.methods.rivals import MiSvm
from tag2box.model import Model
from tag2box.rows import Lens
from tag2box.store import FeatureStore
from tag2box.types import Localization, ProposalBag, Truth

KAPPA, CERTAIN = 24.0, 1e-4


def objectness(bag: ProposalBag) -> Array:
    """(n,) log odds of being an object, as both are given them."""
    return log_odds(bag.objectness.astype(np.float64), CERTAIN)


def corloc(found: Localization, bags: Sequence[ProposalBag], truths: Sequence[Truth], label: str) -> float:
    """Share of the photos with a right box."""
    rows = found.rows.tolist()
    right = [is_correct(bag.boxes[row], one, label) for bag, row, one in zip(bags, rows, truths, strict=True)]
    return float(np.mean(right))


def findings(runs: int, store: Path, truth: Path, label: str, positives: int, negatives: int) -> Iterator[Finding]:
    """Times, with how right each is."""
    features = FeatureStore(store)
    truths = {image.image_id: image.truth for image in read_dataset(truth).images if image.image_id in features}
    shown = [name for name, one in truths.items() if label in one.labels.tolist()][:positives]
    absent = [name for name, one in truths.items() if label not in one.labels.tolist()][:negatives]
    bags, others = ([features.bag(name) for name in names] for names in (shown, absent))
    center = Model.open(None).knowledge.center
    em, svm = VmfMil(KAPPA, OddsBackground(CERTAIN), center=center), MiSvm(objectness, lens=Lens(center))

    def ours() -> Localization:
        return em.solve(bags, np.random.default_rng(0)).localization

    def theirs() -> Localization:
        return svm.learn(bags, others, np.random.default_rng(0)).localization

    mine, other = (corloc(work(), bags, [truths[name] for name in shown], label) for work in (ours, theirs))
    claim = f"EM of {len(shown)} photos against MI-SVM with {len(absent):,} more without the class"
    yield compare(claim, ours, theirs, min(runs, 3), f"CorLoc {100 * mine:.1f} and {100 * other:.1f} %")


def main() -> None:
    """Print what is found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--label", default="person")
    parser.add_argument("--positives", type=int, default=650)
    parser.add_argument("--negatives", type=int, default=1950)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    for found in findings(given.runs, given.store, given.truth, given.label, given.positives, given.negatives):
        print(found, flush=True)


if __name__ == "__main__":
    main()

"""MI-SVM: alternate between a support vector machine and the best region of each image (docs/method.md, section 13).

n = regions of a bag, d = feature dimension, M = positive images
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import final

import numpy as np

from tag2box.arrays import Array, frozen, require_number
from tag2box.errors import TooFewImagesError
from tag2box.methods.floors import RegionScore
from tag2box.methods.rivals.linear_svm import LinearSvm, balanced_costs, fit_linear_svm
from tag2box.rows import NO_LENS, Directions, Lens
from tag2box.types import WHOLE_IMAGE, Localization, ProposalBag, require_dimension


@final
@dataclass(frozen=True, eq=False)
class AppearanceObjectness:
    """Objectness as MI-SVM has it: a logistic regression on features of regions on and beside base objects."""

    weights: Array
    """(d,)"""
    bias: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", frozen(self.weights, np.float64))

    def __call__(self, bag: ProposalBag) -> Array:
        """(n,) log odds of being on an object."""
        require_dimension("objectness", bag, len(self.weights))
        return bag.directions.along(self.weights) + self.bias


@final
@dataclass(frozen=True, eq=False)
class MiSvmFit:
    """The last machine, and the regions that it and objectness prefer."""

    svm: LinearSvm
    localization: Localization
    learner: MiSvm
    rounds: int

    def score(self, bag: ProposalBag) -> Array:
        """(n,) by the machine alone, or with what objectness says if it is asked in new images too."""
        scores = _scores(self.svm, self.learner.seen(bag))
        return scores + self.learner.guide(bag) if self.learner.ask_in_new_images else scores


@final
@dataclass(frozen=True, eq=False)
class MiSvm:
    """The paper's form of Uijlings et al.: full-image start, objectness at re-localization, hard negatives.

    With folds it is theirs: the machine that looks for an image's region has not learned from that image.
    """

    objectness: RegionScore
    """Class-agnostic, learned on base regions"""
    gamma: float = 1.0
    """How much objectness counts when regions are chosen"""
    cost: float = 1.0
    lens: Lens = NO_LENS
    """What the machine sees features through"""
    max_rounds: int = 20
    folds: int = 1
    """Groups of images, each looked at by a machine that learned from the others; 1 is a single machine for all"""
    ask_in_new_images: bool = False
    """Whether objectness counts in new images too, or in the learning only"""

    def __post_init__(self) -> None:
        require_number("gamma", self.gamma, at_least=0.0)
        require_number("cost", self.cost, above=0.0)
        require_number("max_rounds", self.max_rounds, at_least=1)
        require_number("folds", self.folds, at_least=1)

    def learn(
        self, positives: Sequence[ProposalBag], negatives: Sequence[ProposalBag], rng: np.random.Generator
    ) -> MiSvmFit:
        """Separate the best regions of the positives from the hardest of the negatives."""
        shown, absent = ([self.seen(bag) for bag in bags] for bags in (positives, negatives))
        return self._alternate(shown, absent, [self.guide(bag) for bag in positives])

    def learn_classes(
        self,
        bags: Sequence[ProposalBag],
        tags: Sequence[Collection[str]],
        classes: Sequence[str],
        rng: np.random.Generator,
    ) -> dict[str, MiSvmFit]:
        """Each class against the rest of one set of images, which are looked at once."""
        directions, guides, learned = [self.seen(bag) for bag in bags], [self.guide(bag) for bag in bags], {}
        for label in classes:
            shows, shows_not = [label in labels for labels in tags], [label not in labels for labels in tags]
            shown, absent = list(compress(directions, shows)), list(compress(directions, shows_not))
            learned[label] = self._alternate(shown, absent, list(compress(guides, shows)))
        return learned

    def seen(self, bag: ProposalBag) -> Directions:
        """The regions of a bag, through the lens."""
        return bag.directions if self.lens.changes_nothing else bag.through(self.lens).directions

    def guide(self, bag: ProposalBag) -> Array:
        """(n,) what objectness says of each region."""
        return self.gamma * self.objectness(bag)

    def _alternate(self, shown: list[Directions], absent: list[Directions], guides: list[Array]) -> MiSvmFit:
        """Re-train and re-localize until a selection comes back."""
        _require_both(len(shown), len(absent))
        rows, seen = (WHOLE_IMAGE,) * len(shown), set[tuple[int, ...]]()
        hard = {(photo, WHOLE_IMAGE): _row(each, WHOLE_IMAGE) for photo, each in enumerate(absent)}
        for rounds in range(1, self.max_rounds + 1):  # noqa: B007 - how many it took is part of the answer
            seen.add(rows)
            chosen = [_row(each, row) for each, row in zip(shown, rows, strict=True)]
            machines = self._machines(chosen, list(hard.values()))
            guided = [
                _scores(machines[photo % len(machines)], each) + guide
                for photo, (each, guide) in enumerate(zip(shown, guides, strict=True))
            ]
            rows = tuple(int(scores.argmax()) for scores in guided)
            if rows in seen:
                break
            for photo, each in enumerate(absent):
                row = int(_scores(machines[photo % len(machines)], each).argmax())
                hard[photo, row] = _row(each, row)
        svm = machines[0] if len(machines) == 1 else self._train(chosen, list(hard.values()))
        return MiSvmFit(svm, Localization.of_best(guided), self, rounds)

    def _machines(self, chosen: list[Array], hard: list[Array]) -> list[LinearSvm]:
        """One for each fold, which has learned from the others."""
        folds = min(self.folds, len(chosen))
        if folds == 1:
            return [self._train(chosen, hard)]
        others = [[row for photo, row in enumerate(chosen) if photo % folds != fold] for fold in range(folds)]
        return [self._train(some, hard) for some in others]

    def _train(self, chosen: list[Array], hard: list[Array]) -> LinearSvm:
        signs = np.repeat([1.0, -1.0], [len(chosen), len(hard)])
        return fit_linear_svm(np.stack(chosen + hard), signs, balanced_costs(signs, self.cost))


def _row(directions: Directions, row: int) -> Array:
    """(d,), one of them."""
    return directions.at([row])[0].astype(np.float64)


def _scores(svm: LinearSvm, directions: Directions) -> Array:
    """(n,) signed distances; the rows themselves are not moved."""
    return directions.along(svm.weights) + svm.bias


def _require_both(positives: int, negatives: int) -> None:
    if positives < 1 or negatives < 1:
        raise TooFewImagesError(
            f"MI-SVM was given {positives} images that show the thing and {negatives} that do not.",
            "at least one of each",
            "add photos without the thing; vMF-MIL needs none.",
        )

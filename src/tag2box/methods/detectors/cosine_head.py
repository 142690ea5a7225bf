"""The detection head: one cosine classifier for each class (docs/method.md, section 9).

C = classes, B = images, n = regions of a bag, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from tag2box.arrays import Array, Bools, frozen, require_number, require_shape, require_unit_rows
from tag2box.errors import NoImagesOfClassError, ShapeError
from tag2box.methods.detectors.cosine_loss import CosineLoss
from tag2box.methods.detectors.lbfgs import minimize
from tag2box.methods.detectors.query import MAX_DETECTIONS, MAX_OVERLAP, ranked_classes
from tag2box.methods.localizers import NO_BACKGROUND, Background
from tag2box.methods.view import center_bag
from tag2box.sphere import direction_and_length
from tag2box.types import ABSENT, Detections, Localization, ProposalBag, require_dimension, require_tag_set

TAU = 20.0
ROUNDS = 10


@final
@dataclass(frozen=True, eq=False)
class CosineHead:
    """Scores regions for every class by the cosine to the class's direction."""

    classes: tuple[str, ...]
    directions: Array
    """(C, d), unit rows"""
    tau: float = TAU
    center: Array | None = None
    """(d,), mean of the base features; None leaves features as they are"""
    prior: Background = NO_BACKGROUND
    """What speaks against a region whatever the class, such as a low objectness (9.4)"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "directions", frozen(self.directions, np.float64))
        require_shape("class directions", self.directions, (len(self.classes), None))
        require_unit_rows("class directions", self.directions)
        require_number("tau", self.tau, above=0.0)
        if self.center is not None:
            object.__setattr__(self, "center", frozen(self.center, np.float64))

    def of_class(self, label: str) -> CosineHead:
        """The classifier of one class alone."""
        return replace(self, classes=(label,), directions=self.directions[[self.classes.index(label)]])

    def score(self, bag: ProposalBag) -> Array:
        """(n, C) scores, (9.1), less what the prior says against each region (9.4)."""
        require_dimension("detection head", bag, self.directions.shape[1])
        likeness = center_bag(bag, self.center).features.astype(np.float64) @ self.directions.T
        return self.tau * likeness - self.prior.log_score(bag)[:, None]

    def detect(
        self, bag: ProposalBag, *, max_overlap: float = MAX_OVERLAP, max_detections: int = MAX_DETECTIONS
    ) -> Detections:
        """The best regions for every class, suppressed within each class, ranked together."""
        return ranked_classes(
            bag, self.score(bag), self.classes, max_overlap=max_overlap, max_detections=max_detections
        )


def fit_cosine_head(
    bags: Sequence[ProposalBag],
    tags: Sequence[Collection[str]],
    localizations: Mapping[str, Localization],
    *,
    tau: float = TAU,
    balanced: bool = False,
    center: Array | None = None,
    prior: Background = NO_BACKGROUND,
) -> CosineHead:
    """Learn all classes together from localized support images.

    ``localizations[c]`` belongs to the bags tagged c, in their order. Its rows are the positives of c; all regions of
    the bags without c are its negatives. ``balanced`` gives both sides the same total weight. The prior counts in new
    photos only.
    """
    classes = tuple(localizations)
    require_tagged(bags, tags, classes)
    require_number("tau", tau, above=0.0)
    features = np.concatenate([center_bag(bag, center).features for bag in bags]).astype(np.float64)  # (R, d)
    positive, negative = _examples(bags, tags, localizations)
    signs = np.where(positive, 1.0, -1.0)
    loss = CosineLoss(features, signs, _shares(positive, negative, balanced), tau)
    start = np.stack([direction_and_length(features[positive[:, c]].sum(axis=0))[0] for c in range(len(classes))])
    return CosineHead(classes, _minimize_on_sphere(loss, start), tau, center, prior)


def _minimize_on_sphere(loss: CosineLoss, start: Array) -> Array:
    """(C, d) unit classifiers of least loss.

    The loss does not depend on the length of v, its gradient does: a round that ends far from length 1 has stopped too
    early, so v is scaled back and another round begins, with a fresh memory.
    """
    directions = start
    for _ in range(ROUNDS):
        found = minimize(loss.at(directions))
        lengths = np.linalg.norm(found.point.variables, axis=1, keepdims=True)  # (C, 1)
        directions = found.point.variables / lengths
        if found.iterations == 0:
            break
    return directions


def _examples(
    bags: Sequence[ProposalBag], tags: Sequence[Collection[str]], localizations: Mapping[str, Localization]
) -> tuple[Bools, Bools]:
    """Which stacked rows are positives and negatives of which class: two (R, C) masks."""
    offsets = np.concatenate([[0], np.cumsum([len(bag) for bag in bags])])  # (B + 1,)
    positive = np.zeros((offsets[-1], len(localizations)), dtype=bool, order="F")
    negative = np.zeros_like(positive)
    for c, (label, localization) in enumerate(localizations.items()):
        showing = [image for image, labels in enumerate(tags) if label in labels]
        require_shape(f"localization of {label!r}", localization.rows, (len(showing),))
        require_images(label, int((localization.rows != ABSENT).sum()))
        negative[:, c] = np.repeat([label not in labels for labels in tags], np.diff(offsets))
        for image, row in zip(showing, localization.rows, strict=True):
            if row != ABSENT:
                positive[offsets[image] + row, c] = True
    return positive, negative


def _shares(positive: Bools, negative: Bools, balanced: bool) -> Array:
    """(R, C) weight of each example; each column sums to 1."""
    weights = positive.astype(np.float64) + negative
    if balanced:
        weights = positive / positive.sum(axis=0) + negative / np.maximum(negative.sum(axis=0), 1)
    return weights / weights.sum(axis=0)


def require_tagged(bags: Sequence[ProposalBag], tags: Sequence[Collection[str]], classes: Sequence[str]) -> None:
    """Refuse tags that do not belong to the bags, tags that are one text, bags of several extractors, or no class."""
    if len(bags) != len(tags) or not classes or len(set(classes)) < len(classes):
        raise ShapeError(
            f"{len(bags)} images came with {len(tags)} sets of tags and the classes {list(classes)}.",
            "one set of tags for each image, and at least one class, each once",
            "give an empty set to an image without tags.",
        )
    for bag, labels in zip(bags, tags, strict=True):
        require_dimension("first image", bag, bags[0].dimension)
        require_tag_set(bag.image_id, labels)


def require_images(label: str, images: int) -> None:
    """Refuse a class that no image shows."""
    if images == 0:
        raise NoImagesOfClassError(
            f"class {label!r} has no image that shows it.",
            "support images tagged with every class",
            f"tag photos with {label!r}, or leave the class out.",
        )

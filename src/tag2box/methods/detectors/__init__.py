"""Detectors: from localized support images to boxes in new images."""

from tag2box.methods.detectors.cosine_head import CosineHead, fit_cosine_head
from tag2box.methods.detectors.cosine_learner import CosineDetector, CosineLearner, FewShotFit, fit_few_shot
from tag2box.methods.detectors.cosine_loss import CosineLoss
from tag2box.methods.detectors.lbfgs import LinePoint, Minimum, minimize, strong_wolfe
from tag2box.methods.detectors.likeness import (
    MOST_EXAMPLES,
    LikenessDetector,
    LikenessHead,
    LikenessLearner,
    margin,
)
from tag2box.methods.detectors.query import MAX_OVERLAP, confidences, ranked_classes, ranked_regions

__all__ = [
    "MAX_OVERLAP",
    "MOST_EXAMPLES",
    "CosineDetector",
    "CosineHead",
    "CosineLearner",
    "CosineLoss",
    "FewShotFit",
    "LikenessDetector",
    "LikenessHead",
    "LikenessLearner",
    "LinePoint",
    "Minimum",
    "confidences",
    "fit_cosine_head",
    "fit_few_shot",
    "margin",
    "minimize",
    "ranked_classes",
    "ranked_regions",
    "strong_wolfe",
]

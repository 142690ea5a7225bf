"""What is learned from base classes: the detector, its objectness, and all that methods know of base regions."""

from tag2box.training.knowledge import BackgroundSample, fit_background, fit_knowledge, fit_spread, sample_background
from tag2box.training.logistic import alike, balanced, fit_logistic

__all__ = [
    "BackgroundSample",
    "alike",
    "balanced",
    "fit_background",
    "fit_knowledge",
    "fit_logistic",
    "fit_spread",
    "sample_background",
]

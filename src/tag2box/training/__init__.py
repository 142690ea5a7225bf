"""What is learned from base classes: the detector, the background, and all that the lineup's methods know."""

from tag2box.training.background import BackgroundSample, fit_background, sample_background
from tag2box.training.ingredients import fit_ingredients
from tag2box.training.logistic import alike, balanced, fit_logistic
from tag2box.training.spread import fit_spread

__all__ = [
    "BackgroundSample",
    "alike",
    "balanced",
    "fit_background",
    "fit_ingredients",
    "fit_logistic",
    "fit_spread",
    "sample_background",
]

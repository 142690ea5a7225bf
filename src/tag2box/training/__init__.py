"""What is learned from base classes: the detector, the background, and all that the lineup's methods know."""

from tag2box.training.background import BackgroundSample, fit_background, sample_background
from tag2box.training.ingredients import fit_ingredients

__all__ = ["BackgroundSample", "fit_background", "fit_ingredients", "sample_background"]

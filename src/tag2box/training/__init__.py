"""What is learned from base classes; for now, the background."""

from tag2box.training.background import BackgroundSample, fit_background, sample_background

__all__ = ["BackgroundSample", "fit_background", "sample_background"]

"""Everything that belongs to an extractor beyond its graphs: what was learned of base classes and chosen on them.

C = classes, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from tag2box.arrays import Array
from tag2box.errors import ModelError
from tag2box.extract import TwoGraphs
from tag2box.methods.calibration import CALIBRATION_NAME, Calibration, load_calibration
from tag2box.methods.detectors import LikenessHead, Spread, likeness_head
from tag2box.methods.detectors.spread_file import load_spread
from tag2box.methods.lineup import SETTINGS_NAME, Chosen, guided_vmf_mil, load_choice, objectness_prior
from tag2box.methods.localizers import FittedBackground, VmfMil, load_background

BACKGROUND_NAME = "background.safetensors"
SPREAD_NAME = "spread.safetensors"
LOCALIZER, DETECTOR = "vmf-mil-guided", "vmf-mil-likeness"
"""What users get, by its name in the lineup; the detector's settings include the localizer's."""


@final
@dataclass(frozen=True, eq=False)
class Knowledge:
    """How to find what photos share, how to detect it elsewhere, and how far to trust both."""

    fingerprint: str
    """Of the extractor"""
    localizer: VmfMil
    spread: Spread
    calibration: Calibration
    chosen: Chosen

    def head(self, classes: Sequence[str], directions: Array) -> LikenessHead:
        """The detector of classes with these directions (C, d)."""
        return likeness_head(
            classes,
            directions,
            self.spread,
            ridge=self.chosen["ridge"],
            weight=self.chosen["likeness_weight"],
            center=self.localizer.center,
            prior=objectness_prior(self.chosen),
        )


def knowledge_of(extractor: TwoGraphs) -> Knowledge:
    """What lies in the extractor's folder."""
    folder = extractor.folder
    spread, made_for = load_spread(folder / SPREAD_NAME)
    _require_same(folder / SPREAD_NAME, made_for, extractor.fingerprint)
    calibration = load_calibration(folder / CALIBRATION_NAME)
    chosen = settings_of(folder)
    return Knowledge(extractor.fingerprint, localizer_of(extractor), spread, calibration, chosen)


def make_localizer(fitted: FittedBackground, chosen: Chosen) -> VmfMil:
    """vMF-MIL with what base regions look like and, beside it, what the detector takes for no object."""
    return guided_vmf_mil(fitted.model, fitted.center, chosen)


def localizer_of(extractor: TwoGraphs) -> VmfMil:
    """The localizer whose background and settings lie in the extractor's folder."""
    path = extractor.folder / BACKGROUND_NAME
    fitted = load_background(path)
    _require_same(path, fitted.fingerprint, extractor.fingerprint)
    return make_localizer(fitted, settings_of(extractor.folder))


def settings_of(folder: Path) -> Chosen:
    """What was chosen for the methods that users get, on base classes that a model had not learned."""
    return load_choice(folder / SETTINGS_NAME, [DETECTOR])[DETECTOR]


def _require_same(path: Path, made_for: str, fingerprint: str) -> None:
    if made_for != fingerprint:
        raise ModelError(
            f"{path} was fitted on features of {made_for}.",
            f"a file of {fingerprint}",
            "extract base images with this model and run tag2box background on them.",
        )

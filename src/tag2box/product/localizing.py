"""The localizer that users get: vMF-MIL with the background and the settings that belong to an extractor."""

from __future__ import annotations

from pathlib import Path

from tag2box.errors import ModelError
from tag2box.extract import Extractor
from tag2box.methods.lineup import SETTINGS_NAME, Chosen, guided_vmf_mil, load_choice, objectness_prior
from tag2box.methods.localizers import (
    Background,
    FittedBackground,
    VmfMil,
    load_background,
)

BACKGROUND_NAME = "background.safetensors"
METHOD = "vmf-mil-guided"
"""What users get, by its name in the lineup."""


def make_localizer(fitted: FittedBackground, chosen: Chosen) -> VmfMil:
    """vMF-MIL with what base regions look like and, beside it, what the detector takes for no object."""
    return guided_vmf_mil(fitted.model, fitted.center, chosen)


def localizer_of(extractor: Extractor) -> VmfMil:
    """The localizer whose background and settings lie in the extractor's folder."""
    fitted = load_background(extractor.folder / BACKGROUND_NAME)
    if fitted.fingerprint != extractor.fingerprint:
        raise ModelError(
            f"{extractor.folder / BACKGROUND_NAME} was fitted on features of {fitted.fingerprint}.",
            f"a background of {extractor.fingerprint}",
            "extract base images with this model and run tag2box background on them.",
        )
    return make_localizer(fitted, settings_of(extractor.folder))


def prior_of(extractor: Extractor) -> Background:
    """What speaks against a region in a new photo: that the detector takes it for no object."""
    return objectness_prior(settings_of(extractor.folder))


def settings_of(folder: Path) -> Chosen:
    """What was chosen for the method that users get, on base classes that a model had not learned."""
    return load_choice(folder / SETTINGS_NAME, [METHOD])[METHOD]

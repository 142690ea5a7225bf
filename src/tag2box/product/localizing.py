"""The localizer that users get: vMF-MIL with the background and the settings that belong to an extractor."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

from tag2box.arrays import require_number
from tag2box.errors import ModelError, reason_of
from tag2box.extract import Extractor
from tag2box.files import write_json
from tag2box.methods.localizers import (
    Background,
    FittedBackground,
    OddsBackground,
    SummedBackground,
    VmfMil,
    load_background,
)

BACKGROUND_NAME = "background.safetensors"
SETTINGS_NAME = "settings.json"


@final
@dataclass(frozen=True)
class Settings:
    """How sharply objects are taken to resemble each other, and how much each background counts."""

    kappa: float
    background_weight: float
    objectness_weight: float

    def __post_init__(self) -> None:
        require_number("kappa", self.kappa, above=0.0)
        require_number("background weight", self.background_weight)
        require_number("objectness weight", self.objectness_weight)


def make_localizer(fitted: FittedBackground | None, settings: Settings) -> VmfMil:
    """vMF-MIL with what base regions look like, if that was fitted, and what the detector takes for no object."""
    parts: list[tuple[float, Background]] = [(settings.objectness_weight, OddsBackground())]
    if fitted is not None:
        parts.append((settings.background_weight, fitted.model))
    center = fitted.center if fitted is not None else None
    return VmfMil(settings.kappa, SummedBackground(tuple(parts)), center=center)


def localizer_of(extractor: Extractor) -> VmfMil:
    """The localizer whose background and settings lie in the extractor's folder."""
    fitted = load_background(extractor.folder / BACKGROUND_NAME)
    if fitted.fingerprint != extractor.fingerprint:
        raise ModelError(
            f"{extractor.folder / BACKGROUND_NAME} was fitted on features of {fitted.fingerprint}.",
            f"a background of {extractor.fingerprint}",
            "extract base images with this model and run tag2box background on them.",
        )
    return make_localizer(fitted, read_settings(extractor.folder / SETTINGS_NAME))


def prior_of(extractor: Extractor) -> Background:
    """What speaks against a region in a new photo: that the detector takes it for no object."""
    settings = read_settings(extractor.folder / SETTINGS_NAME)
    return SummedBackground(((settings.objectness_weight, OddsBackground()),))


def write_settings(path: Path, settings: Settings, chosen_on: dict[str, Any]) -> None:
    """Write settings, and what they were chosen on."""
    write_json(path, asdict(settings) | {"chosen_on": chosen_on})


def read_settings(path: Path) -> Settings:
    """Settings of a file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Settings(*(float(content[name]) for name in ("kappa", "background_weight", "objectness_weight")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"{path} holds no settings: {reason_of(error)}.",
            "kappa, background_weight and objectness_weight",
            "choose them with tag2box measure colocalization --choose.",
        ) from error

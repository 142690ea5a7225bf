"""A model without files: what it knows is given by hand, and its extractor is a planted one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from samples import some_knowledge
from tag2box.extract import BOX_GRAPH, PHOTO_GRAPH, Card, Extractor
from tag2box.methods.calibration import Calibration, Judge
from tag2box.methods.detectors import Spread
from tag2box.methods.localizers import VmfBackground
from tag2box.model import DETECTOR, LOCALIZER, Model, Settings

EVEN = Calibration(Judge((0.0,) * 5, 0.0), Judge((0.0,) * 2, 0.0), 0.5, 0.0)
"""Doubts everything by one half; a threshold is half the median score of the support photos."""


def planted_model(
    d: int,
    spread: Spread | None = None,
    *,
    kappa: float = 10.0,
    background: VmfBackground | None = None,
    calibration: Calibration = EVEN,
    likeness_weight: float = 1.0,
    extractor: Extractor | None = None,
) -> Model:
    """vMF-MIL without centring, objectness or, unless one is given, background; by default a cosine of 1 scores 5."""
    card = Card(96, d, 0, {PHOTO_GRAPH: "planted", BOX_GRAPH: "planted"}, {"image_size": 96}, {"classes": []})
    known = replace(
        some_knowledge(d, card.fingerprint),
        center=None,
        spread=spread if spread is not None else Spread(np.zeros(d), 0.04 * np.eye(d)),
    )
    known = known if background is None else replace(known, background=background)
    weight = 0.0 if background is None else 1.0
    localizer = {"kappa": kappa, "background_weight": weight, "objectness_weight": 0.0, "steps": 20.0}
    settings = Settings({LOCALIZER: localizer, DETECTOR: {"ridge": 1.0, "likeness_weight": likeness_weight}})
    model = Model(Path("nowhere"), card, known, settings, calibration)
    if extractor is not None:
        model.__dict__["extractor"] = extractor
    return model

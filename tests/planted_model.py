"""A model without files: what it knows is given by hand, and its extractor is a planted one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from samples import some_knowledge
from tag2box.extract import BOX_GRAPH, PHOTO_GRAPH, Card, Extractor
from tag2box.methods.calibration import Calibration, Judge, Threshold
from tag2box.methods.spread import Spread
from tag2box.model import DETECTOR, LOCALIZER, Model, Settings

ANY_LIKENESS = Threshold(0.0, -2.0)
"""That every region reaches."""
UNSURE = Judge((0.0,) * 2, 0.0)
EVEN = Calibration(Judge((0.0,) * 5, 0.0), UNSURE, Threshold(0.5, 0.0), ANY_LIKENESS, UNSURE)
"""Doubts everything by one half; a threshold is half the median score of the support photos, for any likeness."""


def planted_model(
    d: int,
    spread: Spread | None = None,
    *,
    axes: float = 10.0,
    calibration: Calibration = EVEN,
    sharpness: float = 5.0,
    example_share: float = 0.0,
    objectness_weight: float = 0.0,
    rivalry_weight: float = 0.0,
    extractor: Extractor | None = None,
) -> Model:
    """vMF-MIL without centring or, unless they are given weights, objectness and rivals.

    By default a cosine of 1 scores 5.
    """
    card = Card(96, d, 0, {PHOTO_GRAPH: "planted", BOX_GRAPH: "planted"}, {"image_size": 96}, {"classes": []})
    seen = spread if spread is not None else Spread(np.zeros(d), 0.04 * np.eye(d))
    known = replace(some_knowledge(d, card.fingerprint), center=None, spread=seen, kinship=seen.loudest(d))
    localizer = {"axes": axes, "objectness_weight": objectness_weight}
    localizer |= {"commonness_weight": 0.0, "sharedness_weight": 0.0, "rivalry_weight": rivalry_weight}
    settings = Settings({LOCALIZER: localizer, DETECTOR: {"sharpness": sharpness, "example_share": example_share}})
    model = Model(Path("nowhere"), card, known, settings, calibration)
    if extractor is not None:
        model.__dict__["extractor"] = extractor
    return model

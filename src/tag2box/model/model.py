"""A model: the folder in which everything lies that was learned from base classes, and chosen on them.

``card.json`` and two graphs make the extractor; ``knowledge.safetensors`` is what base regions look like to it,
``settings.json`` what was chosen for each method, ``calibration.json`` how far to trust what is found.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Self, final

from tag2box.errors import ModelError
from tag2box.extract import REGIONS, Card, Extractor, model_folder, open_extractor, read_card
from tag2box.methods.calibration import CALIBRATION_NAME, Calibration, load_calibration
from tag2box.methods.detectors import LikenessLearner
from tag2box.methods.knowledge import Knowledge
from tag2box.methods.learners import ObjectLearner
from tag2box.methods.lineup import LINEUP
from tag2box.model.knowledge_file import KNOWLEDGE_NAME, load_knowledge
from tag2box.model.settings import SETTINGS_NAME, Settings, load_settings

LOCALIZER, DETECTOR = "vmf-mil-scenes", "vmf-mil-likeness"
"""What users get, by its name in the lineup; the detector's settings include the localizer's."""


@final
@dataclass(frozen=True, eq=False)
class Model:
    """How to see photos, how to find what they share, how to detect it elsewhere, and how far to trust that."""

    folder: Path
    card: Card
    knowledge: Knowledge
    settings: Settings
    calibration: Calibration
    regions: int = REGIONS
    """Of a photo, beside the whole"""
    threads: int | None = field(default=None, kw_only=True)
    """That work on one photo; None for one a core"""

    @classmethod
    def open(cls, folder: Path | None = None, *, regions: int = REGIONS, threads: int | None = None) -> Self:
        """The model in ``folder``, or the one that ships; its graphs are loaded when the extractor is asked for."""
        place = model_folder(folder)
        return cls(
            place,
            read_card(place),
            load_knowledge(place / KNOWLEDGE_NAME),
            load_settings(place / SETTINGS_NAME),
            load_calibration(place / CALIBRATION_NAME),
            regions,
            threads=threads,
        )

    def __post_init__(self) -> None:
        if self.knowledge.fingerprint != self.card.fingerprint:
            raise ModelError(
                f"{self.folder / KNOWLEDGE_NAME} was fitted on features of {self.knowledge.fingerprint}.",
                f"a file of {self.card.fingerprint}",
                "make the model again with tag2box model make, or copy its folder as a whole.",
            )

    @cached_property
    def extractor(self) -> Extractor:
        """Proposes and describes the regions of photos."""
        return open_extractor(self.folder, regions=self.regions, threads=self.threads)

    @property
    def fingerprint(self) -> str:
        """Names the features: what was described by another fingerprint cannot be compared."""
        return self.card.fingerprint_of(self.regions)

    def method(self, name: str) -> ObjectLearner:
        """A method of the lineup, made from what the model knows and what was chosen for it."""
        return LINEUP[name].build(self.knowledge, self.settings.of(name))

    @cached_property
    def learner(self) -> LikenessLearner:
        """The method that users get."""
        return users_learner(self.knowledge, self.settings)


def users_learner(knowledge: Knowledge, settings: Settings) -> LikenessLearner:
    """The method that users get, made from what is known and what was chosen for it."""
    learner = LINEUP[DETECTOR].build(knowledge, settings.of(DETECTOR))
    if not isinstance(learner, LikenessLearner):
        raise TypeError(f"{DETECTOR} has no likeness head")
    return learner

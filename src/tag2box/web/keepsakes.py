"""What the studio keeps in a run beside what a person says: colours, file names as people know them, thresholds."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Self, final

from tag2box.data.formats.coco_results import FOUND
from tag2box.errors import RunError, reason_of
from tag2box.files import write_json
from tag2box.viz import class_colours

KEEPSAKES_NAME = "studio.json"
COLOURS = tuple(class_colours(f"{place:02d}" for place in range(21)).values())
"""All that there are, those first that are told apart best."""


@final
@dataclass(frozen=True)
class Keepsakes:
    """Small things that a person expects to find again."""

    colours: Mapping[str, str] = field(default_factory=dict)
    """Class → its colour, which stays when other classes come"""
    titles: Mapping[str, str] = field(default_factory=dict)
    """Photo → the name of the file that was given"""
    min_scores: Mapping[str, float] = field(default_factory=dict)
    """Class → the score from which on it counts as found, where a person moved it"""

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Those of a run; none, if nothing was kept yet."""
        path = folder / KEEPSAKES_NAME
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            colours, titles = ({str(k): str(v) for k, v in content[name].items()} for name in ("colours", "titles"))
            return cls(colours, titles, {str(k): float(v) for k, v in content["min_scores"].items()})
        except FileNotFoundError:
            return cls()
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RunError(
                f"{path} cannot be read: {reason_of(error)}.", "what the studio wrote", "delete it: no box is lost."
            ) from error

    def write(self, folder: Path) -> None:
        """Keep them in the run."""
        write_json(folder / KEEPSAKES_NAME, asdict(self))

    def with_colours_of(self, labels: Collection[str]) -> Keepsakes:
        """The same, and a colour for every class that has none: the first that is not taken."""
        colours = dict(self.colours)
        for label in sorted(set(labels) - set(colours)):
            taken = list(colours.values())
            colours[label] = min(COLOURS, key=lambda colour: (taken.count(colour), COLOURS.index(colour)))
        return replace(self, colours=colours)

    def titled(self, photo: str, title: str) -> Keepsakes:
        """The same, with the name that a person knows a photo by."""
        return replace(self, titles={**self.titles, photo: title})

    def found_from(self, label: str, min_score: float) -> Keepsakes:
        """The same, with another score from which on a class counts as found."""
        return replace(self, min_scores={**self.min_scores, label: min_score})

    def min_score(self, label: str) -> float:
        """From which score on a class counts as found."""
        return self.min_scores.get(label, FOUND)

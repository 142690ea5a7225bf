"""What was chosen for each method on held-out base classes, and the file that holds it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from tag2box.errors import SpecificationError, reason_of
from tag2box.files import write_json
from tag2box.methods.lineup import LINEUP, Chosen

FORMAT = "tag2box-settings-1"
SETTINGS_NAME = "settings.json"
"""In the folder of a model."""


@final
@dataclass(frozen=True)
class Settings:
    """Values of settings by method."""

    own: Mapping[str, Chosen]
    """What each method does not take from another"""
    chosen_how: Mapping[str, Any] = field(default_factory=dict)
    """By method: on which classes and tasks, with which result"""
    source: str = "the settings"

    def of(self, method: str) -> Chosen:
        """The settings of a method: its own, with those of the method that it is like."""
        entry = LINEUP[method]
        own = self.own.get(method, {}) if entry.grid else {}
        if set(own) != set(entry.grid):
            raise SpecificationError(
                f"{self.source} has no settings for {method}.",
                f"values of {', '.join(sorted(entry.grid))}",
                f"choose them with tag2box bench tune --method {method}.",
            )
        return {**self.beside(method), **own}

    def all_of(self, methods: Sequence[str]) -> dict[str, Chosen]:
        """The settings of several methods."""
        return {name: self.of(name) for name in methods}

    def beside(self, method: str) -> Chosen:
        """The settings of the method that this one is like, which stand while its own are chosen."""
        like = LINEUP[method].like
        return self.of(like) if like is not None else {}

    def with_choice(self, method: str, chosen: Chosen, facts: Mapping[str, Any]) -> Settings:
        """The same with the settings of one more method, and how they were chosen."""
        return Settings(
            {**self.own, method: dict(chosen)}, {**self.chosen_how, method: dict(facts)}, source=self.source
        )


def save_settings(path: Path, settings: Settings) -> None:
    """Write settings, atomically."""
    own = {name: dict(values) for name, values in settings.own.items()}
    write_json(path, {"format": FORMAT, "settings": own, "chosen": dict(settings.chosen_how)})


def load_settings(path: Path) -> Settings:
    """Read settings; a file of another kind, or a damaged one, is refused by name."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"the format is {content['format']!r}")
        own = {name: {k: float(v) for k, v in values.items()} for name, values in content["settings"].items()}
        return Settings(own, dict(content.get("chosen", {})), str(path))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SpecificationError(
            f"{path} cannot be read as settings: {reason_of(error)}.",
            f"a file of format {FORMAT!r}",
            "choose settings with tag2box bench tune.",
        ) from error

"""The file of chosen settings that belongs to an extractor."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tag2box.errors import SpecificationError, reason_of
from tag2box.files import write_json
from tag2box.methods.lineup.entries import LINEUP, Chosen

FORMAT = "tag2box-settings-1"
SETTINGS_NAME = "settings.json"
"""In the folder of a model."""


def save_choice(path: Path, chosen: Mapping[str, Chosen]) -> None:
    """Write the settings of some methods."""
    write_json(path, {"format": FORMAT, "settings": {name: dict(values) for name, values in chosen.items()}})


def add_choice(path: Path, method: str, chosen: Chosen, facts: Mapping[str, Any]) -> None:
    """Put the settings of a method, and how they were chosen, into a file that may have those of others."""
    content: dict[str, Any] = _read(path) if path.exists() else {"format": FORMAT, "settings": {}}
    how = content.get("chosen", {}) | {method: dict(facts)}
    write_json(path, content | {"settings": content["settings"] | {method: dict(chosen)}, "chosen": how})


def load_choice(path: Path, methods: Sequence[str]) -> dict[str, Chosen]:
    """The settings of each method: its own, with those of the method that it is like."""
    found = _read(path)["settings"]
    return {name: _settings_of(path, found, name) for name in methods}


def choice_beside(path: Path, method: str) -> Chosen:
    """The settings of the method that this one is like, which stand while its own are chosen."""
    like = LINEUP[method].like
    return load_choice(path, [like])[like] if like is not None else {}


def _settings_of(path: Path, found: dict[str, dict[str, float]], method: str) -> Chosen:
    entry = LINEUP[method]
    inherited = _settings_of(path, found, entry.like) if entry.like is not None else {}
    own = found.get(method, {}) if entry.grid else {}
    if set(own) != set(entry.grid):
        raise SpecificationError(
            f"{path} has no settings for {method}.",
            f"values of {', '.join(sorted(entry.grid))}",
            f"choose them with tag2box bench tune --method {method}.",
        )
    return {**inherited, **own}


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"the format is {content['format']!r}")
        settings = {name: {k: float(v) for k, v in values.items()} for name, values in content["settings"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SpecificationError(
            f"{path} cannot be read as settings: {reason_of(error)}.",
            f"a file of format {FORMAT!r}",
            "choose settings with tag2box bench tune.",
        ) from error
    return dict(content) | {"settings": settings}

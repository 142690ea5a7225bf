"""Episodes on disk: one JSON file that any machine can replay."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tag2box.errors import EpisodeFileError, reason_of
from tag2box.files import write_json
from tag2box.types import Episode, TaggedImage

FORMAT = "tag2box-episodes-1"


def save_episodes(path: Path, episodes: Sequence[Episode]) -> None:
    """Write episodes as JSON, atomically."""
    write_json(path, {"format": FORMAT, "episodes": [asdict(episode) for episode in episodes]})


def load_episodes(path: Path) -> list[Episode]:
    """Read episodes; a file of another kind, or with a missing or wrong field, is refused by name."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"the format is {content['format']!r}")
        return [_episode(fields) for fields in content["episodes"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EpisodeFileError(
            f"{path} cannot be read as episodes: {reason_of(error)}.",
            f"a JSON file with format {FORMAT!r} and a list of episodes",
            "write it again with save_episodes.",
        ) from error


def _episode(fields: dict[str, Any]) -> Episode:
    support = tuple(TaggedImage(_text(image["image_id"]), _texts(image["tags"])) for image in fields["support"])
    seed, index = fields["seed"], fields["index"]
    if not (isinstance(seed, int) and isinstance(index, int)):
        raise TypeError("seed and index must be whole numbers")
    return Episode(
        seed, index, _texts(fields["classes"]), support, _texts(fields["negatives"]), _texts(fields["queries"])
    )


def _texts(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise TypeError(f"a list of texts was expected, not {values!r}")
    return tuple(_text(value) for value in values)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text was expected, not {value!r}")
    return value

"""Which classes are base and which are novel, in every setting of the paper."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, final

from tag2box.errors import DatasetError

HELD_OUT_KINDS = ("animal", "electronic", "food")
"""Living, made and grown: kinds as different from each other as from the rest."""


@final
@dataclass(frozen=True)
class Split:
    """Base and novel classes; ``status`` says how sure the list is."""

    name: str
    status: str
    """verified, probable, reconstructed or proposed"""
    source: str
    base: tuple[str, ...]
    novel: tuple[str, ...]


@cache
def _content() -> Mapping[str, Any]:
    content: Mapping[str, Any] = json.loads(files("tag2box.data").joinpath("splits.json").read_text(encoding="utf-8"))
    return content


def split_names() -> tuple[str, ...]:
    """Names of all splits."""
    return tuple(_content()["splits"])


def load_split(name: str) -> Split:
    """A split by name, such as ``coco60``."""
    if name not in _content()["splits"]:
        raise DatasetError(
            f"there is no split {name!r}.", f"one of {', '.join(split_names())}", "check the spelling of the split."
        )
    fields = _content()["splits"][name]
    return Split(name, fields["status"], fields["source"], tuple(fields["base"]), tuple(fields["novel"]))


def ilsvrc_synsets() -> dict[str, str]:
    """Synset number → English name of the 200 classes of ILSVRC DET, in their order."""
    return dict(_content()["ilsvrc_synsets"])


def coco_to_voc() -> dict[str, str]:
    """COCO's name → VOC's name of the 20 classes that both have."""
    return dict(_content()["coco_to_voc"])


def voc_classes() -> tuple[str, ...]:
    """VOC's own names of its 20 classes."""
    return tuple(coco_to_voc().values())


def kind_of_class() -> dict[str, str]:
    """COCO's name of a class → its kind, such as ``animal``: what COCO calls supercategories."""
    return {label: kind for kind, labels in _content()["kinds"].items() for label in labels}


def held_out_classes(classes: Collection[str]) -> tuple[str, ...]:
    """The classes to choose settings on, which the twin of a detector never sees.

    They are whole kinds, so that none of them has a near relative among the others.
    """
    kinds = kind_of_class()
    return tuple(label for label in sorted(classes) if kinds.get(label) in HELD_OUT_KINDS)

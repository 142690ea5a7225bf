"""Which classes are base and which are novel, in every setting of the paper."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, final

import numpy as np

from tag2box.errors import DatasetError

HOLD_OUT_SEED = 2021


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


def hold_out_classes(classes: Collection[str], count: int) -> tuple[str, ...]:
    """Classes to choose settings on, which training leaves unlabelled: always the same ones, drawn by a fixed seed."""
    if count >= len(classes):
        raise DatasetError(
            f"{count} of {len(classes)} classes cannot be held out.", "some classes to learn from", "hold out fewer."
        )
    names = sorted(classes)
    return tuple(names[row] for row in sorted(np.random.default_rng(HOLD_OUT_SEED).permutation(len(names))[:count]))

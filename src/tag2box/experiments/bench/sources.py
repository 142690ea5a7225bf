"""The datasets of experiments by name: where their annotations are, and which classes tasks may ask for."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import final

from tag2box.data import Dataset, held_out_classes, load_split, read_dataset
from tag2box.errors import DatasetError
from tag2box.experiments.composed import ROUNDS

SPLIT = "coco60"
PATHS_NAME = "datasets.toml"
"""A file in the data folder that may say where each dataset's annotations are: ``voc07 = "…/Main/test.txt"``."""
BASE, HELD_OUT = "coco60 base", "coco60 held-out"
SAME_SCENE = tuple(f"same scene {number}" for number in range(1, ROUNDS + 1))
"""Composed of base photos, and kept in the store folder."""
PRACTICAL = ("practical debris", "practical boards", "practical cards")
"""Photos that people took of things that no split knows, for those who have them."""


@final
@dataclass(frozen=True)
class Source:
    """A dataset's usual place, and the classes that tasks may ask for."""

    file: str
    classes: str
    """``novel``, ``base``, ``held-out`` (of the base classes) or ``all`` that the file labels"""
    split: str = SPLIT
    more: tuple[str, ...] = ()
    """Other datasets whose photos belong to it too"""


SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        "voc07": Source("voc07/test.json", "all"),
        "coco60 novel": Source("coco60/novel_pool.json", "novel"),
        "coco60 held-out": Source("coco60/base_val2017.json", "held-out"),
        "coco60 base": Source("coco60/base_val2017.json", "base"),
        "coco63 novel": Source("coco60/base_val2017.json", "novel", "coco63", ("coco60 novel",)),
        **{name: Source(f"{name.replace(' ', '/')}/boxes.json", "all") for name in PRACTICAL},
    }
)


def annotation_file(data: Path, name: str) -> Path:
    """Where the annotations of a dataset are: where the data folder says, or at their usual place."""
    if name not in SOURCES:
        raise DatasetError(f"there is no dataset {name!r}.", f"one of {', '.join(SOURCES)}", "correct the name.")
    listed = data / PATHS_NAME
    if not listed.exists():
        return data / SOURCES[name].file
    try:
        places = tomllib.loads(listed.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DatasetError(f"{listed} cannot be read: {error}.", "a TOML file", "check the file.") from error
    return data / str(places.get(name, SOURCES[name].file))


def annotations_hash(data: Path, name: str) -> str:
    """A hash of all that tasks and verdicts can know of a dataset: its classes, images and objects, as they are read.

    A single file that has not changed is not read again.
    """
    path = annotation_file(data, name)
    many = path.suffix != ".json" or bool(SOURCES[name].more)  # an image set, whose objects are in many files
    if many or not path.exists():
        return hash_of(of_data_folder(data, name))
    stamp = path.stat()
    return _hash_of_file(data, name, path, stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=32)
def _hash_of_file(data: Path, name: str, *_stamp: object) -> str:
    return hash_of(of_data_folder(data, name))


def hash_of(dataset: Dataset) -> str:
    """Of classes, images and objects."""
    digest = hashlib.sha256(json.dumps(dataset.classes).encode())
    for image in dataset.images:
        truth = image.truth
        digest.update(json.dumps([image.image_id, image.height, image.width, truth.labels.tolist()]).encode())
        for column in (truth.boxes, truth.ignore, truth.crowd):
            digest.update(column.tobytes())
    return digest.hexdigest()


def of_data_folder(data: Path, name: str) -> Dataset:
    """The images of a dataset with the objects that count."""
    dataset, source = read_dataset(annotation_file(data, name)), SOURCES[name]
    for other in source.more:
        dataset = dataset.joined(read_dataset(annotation_file(data, other)))
    return dataset.only(classes_named(source.classes, dataset, source.split))


def classes_named(which: str, dataset: Dataset, split_name: str) -> Collection[str]:
    """The ``novel``, ``base`` or ``held-out`` classes of a split, or ``all`` that the dataset labels."""
    split = load_split(split_name)
    if which == "held-out":
        return held_out_classes(split.base)
    return {"all": dataset.classes, "novel": split.novel, "base": split.base}[which]

"""Which photo of the truth a photo is: both sides name it by a path, and seldom from the same folder."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from tag2box.data import Dataset, DatasetImage
from tag2box.errors import RunError


def find_partners(names: Sequence[str], truth: Dataset) -> list[DatasetImage]:
    """The truth's photo for each name: by the path in the truth's folder, else by the longest end of the path.

    The file's own name is enough if the truth has it once. No photo of the truth serves for two names.
    """
    exact = _by_path(truth)
    by_end = defaultdict(list)
    for image in truth.images:
        for end in _ends(image.path.as_posix()):
            by_end[end].append(image)
    partners = [exact.get(name) or _only_one(name, by_end) for name in names]
    taken: dict[str, str] = {}
    for name, image in zip(names, partners, strict=True):
        if taken.setdefault(image.image_id, name) != name:
            raise _mismatch(f"{taken[image.image_id]!r} and {name!r} both look like {image.path} of the truth.")
    return partners


def require_same_size(name: str, size: tuple[int, int], image: DatasetImage) -> None:
    """Refuse a photo of another height and width than its partner: their boxes cannot be compared."""
    if size != (image.height, image.width):
        raise _mismatch(
            f"{name!r} is {size[1]} x {size[0]} pixels large, {image.path} of the truth {image.width} x {image.height}."
        )


def _by_path(truth: Dataset) -> dict[str, DatasetImage]:
    """The truth's photos by their paths in the one folder that holds them all."""
    paths = [image.path.absolute() for image in truth.images]
    root = os.path.commonpath([path.parent for path in paths]) if paths else ""
    return {path.relative_to(root).as_posix(): image for path, image in zip(paths, truth.images, strict=True)}


def _only_one(name: str, by_end: Mapping[str, Sequence[DatasetImage]]) -> DatasetImage:
    """The one photo that shares the longest end of the path."""
    alike = next((by_end[end] for end in _ends(name) if end in by_end), ())
    if not alike:
        raise _mismatch(f"the truth has no photo {name!r}.")
    if len(alike) > 1:
        raise _mismatch(f"{name!r} looks like both {alike[0].path} and {alike[1].path} of the truth.")
    return alike[0]


def _ends(name: str) -> list[str]:
    """The path without its first steps, longest first: ``a/b/c``, ``b/c``, ``c``."""
    steps = [step for step in PurePosixPath(name).parts if step != "/"]
    return ["/".join(steps[first:]) for first in range(len(steps))]


def _mismatch(wrong: str) -> RunError:
    return RunError(wrong, "one photo of the truth for each photo", "give the truth of these very photos.")

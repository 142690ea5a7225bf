"""Which photo of the truth a photo is: both sides name it by a path, and seldom from the same folder."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from tag2box.data.dataset import Dataset, DatasetImage
from tag2box.data.formats.placing import flat_names
from tag2box.errors import RunError


def find_partners(names: Sequence[str], truth: Dataset) -> list[DatasetImage | None]:
    """The truth's photo for each name, or None if it has none.

    It is found by the path in the truth's folder, by the name that formats without folders give it (YOLO and VOC), else
    by the longest end of the path; the file's own name is enough if the truth has it once. No photo of the truth serves
    for two names: it goes to the one that shares more of its path.
    """
    by_path, by_end = _by_path(truth), _by_end(truth)
    flat = flat_names(names)
    found = [_likest(name, other, by_path, by_end) for name, other in zip(names, flat, strict=True)]
    most: dict[str, int] = {}
    for image, shared in found:
        if image:
            most[image.image_id] = max(shared, most.get(image.image_id, 0))
    partners = [image if image and shared == most[image.image_id] else None for image, shared in found]
    _require_distinct(names, partners)
    return partners


def require_same_size(name: str, size: tuple[int, int], image: DatasetImage) -> None:
    """Refuse a photo of another height and width than its partner: their boxes cannot be compared."""
    if size != (image.height, image.width):
        raise _mismatch(
            f"{name!r} is {size[1]} x {size[0]} pixels large, {image.path} of the truth {image.width} x {image.height}."
        )


def _require_distinct(names: Sequence[str], partners: Sequence[DatasetImage | None]) -> None:
    taken: dict[str, str] = {}
    for name, image in zip(names, partners, strict=True):
        if image and taken.setdefault(image.image_id, name) != name:
            raise _mismatch(f"{taken[image.image_id]!r} and {name!r} both look like {image.path} of the truth.")


def _by_path(truth: Dataset) -> dict[str, DatasetImage]:
    """The truth's photos by their paths in the one folder that holds them all."""
    paths = [image.path.absolute() for image in truth.images]
    root = os.path.commonpath([path.parent for path in paths]) if paths else ""
    return {path.relative_to(root).as_posix(): image for path, image in zip(paths, truth.images, strict=True)}


def _by_end(truth: Dataset) -> dict[str, list[DatasetImage]]:
    """The truth's photos by all ends of their paths."""
    by_end = defaultdict(list)
    for image in truth.images:
        for end in _ends(image.path.as_posix()):
            by_end[end].append(image)
    return by_end


def _likest(
    name: str, flat: str, by_path: Mapping[str, DatasetImage], by_end: Mapping[str, Sequence[DatasetImage]]
) -> tuple[DatasetImage | None, int]:
    """The one photo that shares the longest end of the path, and how many steps that is."""
    ends = _ends(name)
    exact = by_path.get(name) or by_path.get(flat)
    if exact:
        return exact, len(ends)
    end = next((end for end in (*ends[:1], flat, *ends[1:]) if end in by_end), None)
    if end is None:
        return None, 0
    alike = by_end[end]
    if len(alike) > 1:
        raise _mismatch(f"{name!r} looks like both {alike[0].path} and {alike[1].path} of the truth.")
    return alike[0], len(ends) if end == flat else end.count("/") + 1


def _ends(name: str) -> list[str]:
    """The path without its first steps, longest first: ``a/b/c``, ``b/c``, ``c``."""
    steps = [step for step in PurePosixPath(name).parts if step != "/"]
    return ["/".join(steps[first:]) for first in range(len(steps))]


def _mismatch(wrong: str) -> RunError:
    return RunError(wrong, "one photo of the truth for each photo", "give the truth of these very photos.")

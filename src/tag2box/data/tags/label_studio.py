"""Tags from an export of Label Studio: a photo has the labels and choices of its annotations."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tag2box.data.tags.annotation_files import field, kind_of
from tag2box.data.tags.mentions import Mention, find_mentioned, inside
from tag2box.data.tags.tag_set import TagSet
from tag2box.data.tags.tag_words import clean_tags
from tag2box.errors import TagsError

EXPECTED = "a list of tasks, as Label Studio exports it as JSON or JSON-MIN"
SHORT_KEYS = ("label", "labels", "choice", "choices")
"""Where JSON-MIN has its tags."""

UPLOAD = re.compile(r"/?data/upload/(?:\d+/)?(?:[0-9a-f]{8}-)?")
LOCAL_FILE = "/data/local-files/?d="


def label_studio_tags(path: Path, tasks: Sequence[Any]) -> TagSet:
    """The photos of an export with the given tasks; a task that nobody has annotated yet is passed over."""
    return TagSet.build(path.parent.absolute(), find_mentioned(_mentions(path, tasks), path), "Label Studio")


def _mentions(path: Path, tasks: Sequence[Any]) -> Iterator[Mention]:
    for number, task in enumerate(tasks, start=1):
        where = f"task {number}"
        message = f"{where} of {path}"
        full = isinstance(task, dict) and "data" in task
        words = _words_of_annotations(task, message) if full else _words_of_short_task(task, message)
        if words is not None:
            reference = field(task["data"] if full else task, "image", str, message)
            yield Mention(_candidates(path.parent.absolute(), reference, message), clean_tags(words, message), where)


def _words_of_annotations(task: Any, where: str) -> list[str] | None:
    """The words of all annotators; nothing if there is no annotation that counts."""
    annotations = field(task, "annotations", list, where)
    results = [field(a, "result", list, f"an annotation of {where}") for a in annotations if not _cancelled(a)]
    values = [
        field(item, "value", dict, f"a result of {where}") for result in results for item in result if _said(item)
    ]
    return [word for value in values for word in _words(value, where)] if results else None


def _cancelled(annotation: Any) -> bool:
    return isinstance(annotation, dict) and bool(annotation.get("was_cancelled"))


def _said(item: Any) -> bool:
    """Whether a result has something to say by itself: relations between regions have no value."""
    return not (isinstance(item, dict) and item.get("type") == "relation")


def _words_of_short_task(task: Any, where: str) -> list[str]:
    field(task, "image", str, where)
    return [word for key in SHORT_KEYS if key in task for word in _words(task[key], where)]


def _words(value: Any, where: str) -> list[str]:
    """The tags in a text or a region, or in a list of these."""
    items = value if isinstance(value, list) else [value]
    return [word for item in items for word in ([item] if isinstance(item, str) else _labels(item, where))]


def _labels(region: Any, where: str) -> list[str]:
    """The tags in the fields of a region that hold labels, such as ``rectanglelabels``."""
    if not isinstance(region, dict):
        raise TagsError(f"{where} has {kind_of(region)} as a label.", EXPECTED, "export the project again.")
    lists = [field(region, key, list, where) for key in region if key.endswith("labels") or key == "choices"]
    labels = [label for labels in lists for label in labels]
    wrong = [label for label in labels if not isinstance(label, str)]
    if wrong:
        raise TagsError(f"{where} has {kind_of(wrong[0])} as a label.", "labels as texts", "export the project again.")
    return labels


def _candidates(folder: Path, reference: str, where: str) -> list[Path]:
    """Where the photo of a task may be: beside the export, or in ``images`` beside it."""
    if reference.startswith("file://"):
        return [Path(os.path.normpath(folder / unquote(reference.removeprefix("file://"))))]
    if "://" in reference or reference.startswith("data:"):
        raise TagsError(
            f"{where} has its photo at {reference[:80]!r}.",
            "photos on this disk",
            "download the photos, put them beside the export, and write their file names into it.",
        )
    names = _names(reference)
    return [inside(place, name, where) for name in names for place in (folder, folder / "images")]


def _names(reference: str) -> list[str]:
    """What the file of a photo may be called, likeliest first; Label Studio puts eight digits before uploads."""
    if reference.startswith(LOCAL_FILE):
        parts = unquote(reference.removeprefix(LOCAL_FILE)).strip("/").split("/")
        return ["/".join(parts[start:]) for start in range(len(parts))]
    upload = UPLOAD.match(reference)
    if upload:
        names = [reference.rsplit("/", 1)[1], reference[upload.end() :]]
        return list(dict.fromkeys(form for name in names for form in (name, unquote(name))))
    return list(dict.fromkeys([reference, unquote(reference)]))

"""What a page is offered of what was found: other places in a photo, EM step by step, files to take away."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tag2box.arrays import Array
from tag2box.data.formats import FORMATS
from tag2box.data.formats.coco_results import FOUND
from tag2box.errors import ExportError
from tag2box.product.class_file import ClassSet, save_classes
from tag2box.product.detecting import Detector
from tag2box.product.finding import Found
from tag2box.product.run import Run
from tag2box.store import as_stored
from tag2box.web.state import photo_id, rounded

FEWEST_SHOWN = 0.05
"""The score below which a detection is not worth a look."""
MOST_REASONS = 3
"""Tagged photos that are shown as the reason for a detection."""
WRITABLE = tuple(sorted(each.name for each in FORMATS if each.write))


def other_places(run: Run, photo: str) -> list[dict[str, Any]]:
    """Where else the things of a photo may be, the likeliest first."""
    found, offered = run.found, list[dict[str, Any]]()
    for box in found.boxes().get(photo, ()) if found is not None else ():
        places = run.places(photo, box.label)
        offered += [{"label": box.label, "box": rounded(places.boxes[row])} for row in places.offered(box.box)]
    return offered


def film_of(found: Found | None, label: str) -> dict[str, Any]:
    """EM at work on a class: its photos, and for every step where their boxes are."""
    one = found.of(label) if found is not None else None
    if one is None:
        return {"label": label, "photos": [], "likelihoods": [], "steps": []}
    return {
        "label": label,
        "photos": [photo_id(photo) for photo in one.photos],
        "likelihoods": [round(value, 6) for value in one.likelihoods],
        "steps": [[rounded(box) for box in step] for step in one.film],
    }


def export_zip(run: Run, form: str, max_doubt: float | None) -> Path:
    """A zip file of photos and boxes for another tool, which is the caller's to delete."""
    if form not in WRITABLE:
        raise ExportError(f"{form[:40]!r} is no format.", f"one of {', '.join(WRITABLE)}", "choose one of these.")
    run.localize()
    with tempfile.TemporaryDirectory(prefix="tag2box-") as scratch:
        run.export([form], Path(scratch), max_doubt)
        return _zipped(Path(scratch) / form)


def _zipped(folder: Path) -> Path:
    with (
        tempfile.NamedTemporaryFile(prefix="tag2box-", suffix=".zip", delete=False) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive,
    ):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                archive.write(path, Path(folder.name) / path.relative_to(folder))
    return Path(file.name)


def classes_of(run: Run, min_scores: Mapping[str, float]) -> ClassSet:
    """The classes of a run, each found from the score on that a person wants."""
    known = run.learn()
    for label, score in min_scores.items():
        if label in known.labels:
            known = known.found_from(label, score)
    return known


def class_file(known: ClassSet) -> bytes:
    """The bytes of a class file."""
    with tempfile.TemporaryDirectory(prefix="tag2box-") as scratch:
        path = Path(scratch) / "things.classes"
        save_classes(path, known)
        return path.read_bytes()


def scores_of(found: Found | None, label: str) -> dict[str, Any]:
    """What a class would be found with in its own photos, and in others."""
    one = found.of(label) if found is not None else None
    scores = (one.scores.own.tolist(), one.scores.elsewhere.tolist()) if one is not None else ([], [])
    own, elsewhere = ([round(score, 4) for score in some] for some in scores)
    return {"label": label, "own": own, "elsewhere": elsewhere}


def detections_in(run: Run, known: ClassSet, photo: Path) -> dict[str, Any]:
    """What of the classes is in a new photo, with what is not quite enough to count, and why."""
    extracted = run.model.extractor.extract(photo, "a new photo")
    bag, detector = as_stored(extracted.bag), Detector(known, run.model)
    boxes = [
        {
            "label": one.label,
            "box": rounded(one.box),
            "score": round(one.score, 4),
            "found": one.score >= FOUND,
            "like": _likest(run.found, one.label, detector.likeness_to_examples(bag, one)),
        }
        for one in detector.detect(bag, FEWEST_SHOWN)
    ]
    return {"width": extracted.width, "height": extracted.height, "boxes": boxes}


def _likest(found: Found | None, label: str, likeness: Array) -> list[dict[str, Any]]:
    """The tagged photos whose thing a region is like, the likest first."""
    one = found.of(label) if found is not None else None
    if one is None:
        return []
    boxes = dict(zip(one.photos, one.boxes, strict=True))
    return [
        {
            "photo": photo_id(one.example_photos[place]),
            "box": rounded(boxes[one.example_photos[place]].box),
            "likeness": round(float(likeness[place]), 3),
        }
        for place in np.argsort(-likeness)[:MOST_REASONS].tolist()
    ]

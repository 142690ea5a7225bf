"""Label Studio: a list of tasks, exported as JSON or JSON-MIN, or with predictions for a person to accept."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from tag2box.boxes import Size
from tag2box.data.dataset import Dataset, DatasetImage, TrueBox
from tag2box.data.formats.label_studio_regions import (
    LOCAL_FILE,
    Controls,
    box_of,
    is_region,
    labels_of,
    photo_names,
    prediction_of,
    region_of,
)
from tag2box.data.formats.parsing import (
    Mention,
    as_truth,
    field,
    find_mentioned,
    first_file,
    inside,
    read_json,
    read_xml,
    size_of,
)
from tag2box.data.formats.placing import branch, link_photo, put_photos, tree_names, write_xml
from tag2box.data.labelled import LabelledPhoto, LabelledPhotos
from tag2box.data.photo_files import photo_size
from tag2box.data.tags import TagSet, clean_name, clean_tags
from tag2box.errors import TagsError
from tag2box.files import write_json

SHORT_KEYS = ("label", "labels", "choice", "choices")
"""Where JSON-MIN has its tags."""

CONFIG_NAME = "config.xml"
MODEL = "tag2box"
README = """\
How to open these photos in Label Studio

1. Start Label Studio so that it may serve this folder:
     LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED=true \\
     LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT=<this folder> label-studio start
2. Make a project; under Settings > Labeling Interface > Code, paste config.xml.
3. Under Settings > Cloud Storage, add a source storage of the type Local files with the path <this folder>/images,
   and save it without synchronizing: it only allows the photos to be shown.
4. Import tasks.json. Order by prediction score to see the most doubtful photos first.
"""


class _Task(NamedTuple):
    """A photo and what was said of it."""

    reference: str
    answers: Sequence[Sequence[Any]]
    """Of each annotator: regions, or plain words"""
    where: str


def is_label_studio(place: Path) -> bool:
    """Whether a place is a JSON file that begins with a list; COCO begins with an object."""
    if place.suffix.lower() != ".json":
        return False
    try:
        with place.open("rb") as file:
            beginning = file.read(1000)
    except OSError:  # which the next format says
        return False
    return beginning.decode(errors="ignore").removeprefix("\ufeff").lstrip().startswith("[")


def read_label_studio_tags(path: Path) -> TagSet:
    """The photos of an export with the labels and choices of all annotators; a task that has none is passed over."""
    folder = path.parent.absolute()
    mentions = (
        Mention(_candidates(folder, task.reference, task.where), clean_tags(_words(task), task.where), place)
        for place, task in _tasks(path)
    )
    return TagSet.build(folder, find_mentioned(mentions, path), "Label Studio")


@as_truth()
def read_label_studio(path: Path) -> Dataset:
    """The photos of an export with their boxes; of a polygon, the box around it. Choices have no box."""
    images = tuple(_true_image(path.parent.absolute(), task) for _, task in _tasks(path))
    shown = sorted({label for image in images for label in image.truth.labels.tolist()})
    return Dataset(tuple(dict.fromkeys([*_configured(path.parent / CONFIG_NAME), *shown])), images)


def _tasks(path: Path) -> Iterator[tuple[str, _Task]]:
    """The tasks that somebody has answered, and their places in the file."""
    for number, task in enumerate(read_json(path), start=1):
        place = f"task {number}"
        where = f"{place} of {path}"
        full = isinstance(task, dict) and "data" in task
        answers = _answers(task, where) if full else [_short_answer(task, where)]
        if answers is not None:
            yield place, _Task(field(task["data"] if full else task, "image", str, where), answers, where)


def _answers(task: Any, where: str) -> list[list[Any]] | None:
    """The regions of all annotations that count or, in a file for import, of the predictions; nothing if none."""
    for_import = "annotations" not in task and "predictions" in task
    given = field(task, "predictions" if for_import else "annotations", list, where)
    results = [field(one, "result", list, f"an annotation of {where}") for one in given if not _cancelled(one)]
    answers = [[region_of(item, where) for item in result if is_region(item)] for result in results]
    return answers or ([[]] if for_import else None)


def _cancelled(annotation: Any) -> bool:
    return isinstance(annotation, dict) and bool(annotation.get("was_cancelled"))


def _short_answer(task: Any, where: str) -> list[Any]:
    field(task, "image", str, where)
    values = [task[key] for key in SHORT_KEYS if key in task]
    return [item for value in values for item in (value if isinstance(value, list) else [value])]


def _words(task: _Task) -> list[str]:
    items = [item for answer in task.answers for item in answer]
    return [word for item in items for word in ([item] if isinstance(item, str) else labels_of(item, task.where))]


def _true_image(folder: Path, task: _Task) -> DatasetImage:
    if len(task.answers) > 1:
        raise TagsError(
            f"{task.where} has {len(task.answers)} annotations.", "one, that is the truth", "delete or skip the others."
        )
    path = _photo_of(folder, task)
    regions = [item for item in task.answers[0] if not isinstance(item, str)]
    named = [(label, region) for region in regions for label in labels_of(region, task.where)]
    things = [(label, region) for label, region in named if "choices" not in region]
    size = _size_of(regions, path, task.where)
    boxes = [TrueBox(clean_name(label), box_of(region, size, task.where)) for label, region in things]
    name = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()
    return DatasetImage.build(path, name, size, boxes)


def _photo_of(folder: Path, task: _Task) -> Path:
    """Where the photo of a task is; if it is nowhere, what it was called before it came to Label Studio."""
    candidates = _candidates(folder, task.reference, task.where)
    whole = task.reference.startswith((LOCAL_FILE, "file://"))
    return first_file(candidates) or (candidates[0] if whole else folder / photo_names(task.reference)[-1])


def _size_of(regions: Sequence[dict[str, Any]], path: Path, where: str) -> Size:
    for region in regions:
        if "original_height" in region:
            return size_of(region["original_height"], region.get("original_width"), where)
    return photo_size(path)


def _configured(config: Path) -> list[str]:
    """The labels of the project, where its labeling interface lies beside the tasks."""
    labels = read_xml(config).iter("Label") if os.path.isfile(config) else ()
    return [clean_name(label.get("value", "")) for label in labels]


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
    names = photo_names(reference)
    return [inside(place, name, where) for name in names for place in (folder, folder / "images")]


def write_label_studio(labelled: LabelledPhotos, folder: Path) -> None:
    """Write ``tasks.json``, ``config.xml``, ``images/`` and a ``README.txt`` that says how to open them."""
    photos = put_photos(labelled, folder / "images", tree_names, link_photo)
    write_json(folder / "tasks.json", [_task_entry(photo) for photo in photos])
    labels = (branch("Label", value=label) for label in labelled.classes)
    image = branch("Image", name="image", value="$image")
    view = branch("View", image, branch("RectangleLabels", *labels, name="label", toName="image"))
    write_xml(folder / CONFIG_NAME, view)
    (folder / "README.txt").write_text(README, encoding="utf-8")


def _task_entry(photo: LabelledPhoto) -> dict[str, Any]:
    """A photo; its score is that of its most doubtful box."""
    url = f"{LOCAL_FILE}{quote(f'images/{photo.name}')}"
    prediction = prediction_of(photo, Controls(), MODEL)
    return {"data": {"image": url}, "predictions": [prediction] if prediction else []}

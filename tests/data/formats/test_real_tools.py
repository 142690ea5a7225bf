"""Boxes survive the way through the tools that exports are made for, whatever the photos are called.

Each reader is a tool's own: name of the photo in the export → its boxes.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from math import ceil, floor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tag2box.data import FoundBox, LabelledPhotos
from tag2box.data.formats import write_formats
from tag2box.data.formats.placing import Naming, flat_names, tree_names

Box = tuple[float, float, float, float]
Found = dict[str, list[tuple[str, Box]]]
Take = Callable[[Path, Mapping[str, tuple[tuple[int, int], tuple[FoundBox, ...]]]], LabelledPhotos]

ROUNDING = 0.011
"""Pixels: two decimals for the corner, and two for the side."""


def coco_by_pycocotools(folder: Path) -> Found:
    from pycocotools.coco import COCO

    return from_pycocotools(COCO(str(folder / "annotations.json")))


def fiftyone_by_pycocotools(folder: Path) -> Found:
    """FiftyOne itself brings a database along; what it reads is COCO."""
    from pycocotools.coco import COCO

    found = from_pycocotools(COCO(str(folder / "labels.json")))
    assert all((folder / "data" / name).is_file() for name in found)
    return found


def from_pycocotools(coco: Any) -> Found:
    labels = {category["id"]: category["name"] for category in coco.loadCats(coco.getCatIds())}
    found: Found = {}
    for image in coco.loadImgs(coco.getImgIds()):
        boxes = coco.loadAnns(coco.getAnnIds(imgIds=[image["id"]]))
        corners = [(labels[box["category_id"]], box["bbox"]) for box in boxes]
        found[image["file_name"].removeprefix("images/")] = [
            (label, (x, y, x + width, y + height)) for label, (x, y, width, height) in corners
        ]
    return found


def coco_by_supervision(folder: Path) -> Found:
    import supervision

    dataset = supervision.DetectionDataset.from_coco(str(folder), str(folder / "annotations.json"))
    return from_supervision(dataset, folder / "images")


def roboflow_by_supervision(folder: Path) -> Found:
    import supervision

    found: Found = {}
    for part in ("train", "valid", "test"):
        place = folder / part
        dataset = supervision.DetectionDataset.from_coco(str(place), str(place / "_annotations.coco.json"))
        found |= from_supervision(dataset, place)
    return found


def yolo_by_supervision(folder: Path) -> Found:
    import supervision

    images, labels = folder / "images" / "train", folder / "labels" / "train"
    dataset = supervision.DetectionDataset.from_yolo(str(images), str(labels), str(folder / "data.yaml"))
    return from_supervision(dataset, images)


def voc_by_supervision(folder: Path) -> Found:
    import supervision

    images = folder / "JPEGImages"
    dataset = supervision.DetectionDataset.from_pascal_voc(str(images), str(folder / "Annotations"))
    return from_supervision(dataset, images)


def from_supervision(dataset: Any, images: Path) -> Found:
    found: Found = {}
    for path, photo, boxes in dataset:
        assert photo.size
        labels = [dataset.classes[number] for number in boxes.class_id]
        corners = [(x0, y0, x1, y1) for x0, y0, x1, y1 in boxes.xyxy.tolist()]
        found[Path(path).relative_to(images).as_posix()] = list(zip(labels, corners, strict=True))
    return found


def cvat_by_labelformat(folder: Path) -> Found:
    from labelformat.formats import CVATObjectDetectionInput

    found: Found = {}
    for photo in CVATObjectDetectionInput(folder / "annotations.xml").get_labels():
        assert (folder / "images" / photo.image.filename).is_file()
        boxes = [(thing.category.name, thing.box) for thing in photo.objects]
        found[photo.image.filename] = [(label, (b.xmin, b.ymin, b.xmax, b.ymax)) for label, b in boxes]
    return found


def labelstudio_by_its_own_converter(folder: Path) -> Found:
    """What Label Studio makes of the predictions once a person has accepted them."""
    config = (folder / "config.xml").read_text(encoding="utf-8")
    tasks = json.loads((folder / "tasks.json").read_text(encoding="utf-8"))
    require_valid(config, tasks)
    accepted = [
        {"id": number, "data": {"image": task["data"]["image"]}, "annotations": task["predictions"]}
        for number, task in enumerate(tasks)
    ]
    for number, annotation in enumerate(one for task in accepted for one in task["annotations"]):
        annotation |= {"id": number, "completed_by": {}}
    with TemporaryDirectory() as scratch:
        (Path(scratch) / "accepted.json").write_text(json.dumps(accepted))
        converter = import_module("label_studio_sdk.converter").Converter(config, scratch, download_resources=False)
        converter.convert_to_coco(f"{scratch}/accepted.json", scratch, is_dir=False)
        content = json.loads((Path(scratch) / "result.json").read_text())
    return from_converted(content, folder)


def require_valid(config: str, tasks: list[dict[str, Any]]) -> None:
    interface = import_module("label_studio_sdk.label_interface").LabelInterface(config)
    interface.validate()
    for task in tasks:
        assert interface.validate_task({"data": task["data"]})
        for prediction in task["predictions"]:
            assert interface.validate_prediction(prediction, return_errors=True) == []


def from_converted(content: dict[str, Any], folder: Path) -> Found:
    utils: Any = import_module("label_studio_sdk.converter.utils")
    utils.LOCAL_FILES_DOCUMENT_ROOT = str(folder)
    labels = {category["id"]: category["name"] for category in content["categories"]}
    boxes = defaultdict(list)
    for box in content["annotations"]:
        x, y, width, height = box["bbox"]
        boxes[box["image_id"]].append((labels[box["category_id"]], (x, y, x + width, y + height)))
    found: Found = {}
    for image in content["images"]:
        path = utils.download(image["file_name"], folder, download_resources=False)
        found[Path(path).relative_to(folder / "images").as_posix()] = boxes[image["id"]]
    return found


TOOLS: dict[str, tuple[str, Callable[[Path], Found], Naming]] = {
    "coco by pycocotools": ("coco", coco_by_pycocotools, tree_names),
    "coco by supervision": ("coco", coco_by_supervision, tree_names),
    "fiftyone by pycocotools": ("fiftyone", fiftyone_by_pycocotools, tree_names),
    "roboflow by supervision": ("roboflow", roboflow_by_supervision, flat_names),
    "yolo by supervision": ("yolo", yolo_by_supervision, flat_names),
    "voc by supervision": ("voc", voc_by_supervision, flat_names),
    "cvat by labelformat": ("cvat", cvat_by_labelformat, tree_names),
    "labelstudio by its own converter": ("labelstudio", labelstudio_by_its_own_converter, tree_names),
}

LETTERS = st.one_of(
    st.sampled_from(" .-_'\"&<>#%?\\\n\téß漢😀"), st.characters(codec="utf-8", exclude_characters="/\0")
)
STEPS = st.text(LETTERS, min_size=1, max_size=12).filter(lambda step: step.strip("."))
NAMES = st.builds(lambda steps: "/".join(steps) + ".png", st.lists(STEPS, min_size=1, max_size=3))
LABELS = st.sampled_from(["cup", "a pen", 'tea & "milk" <x>', "чашка", "😀", "yes", "1", "ci: cd"])


@st.composite
def sides(draw: st.DrawFn, length: int) -> tuple[float, float]:
    """Where a box begins and ends along a side of the photo, in hundredths of a pixel."""
    begin = draw(st.integers(0, 100 * length - 10))
    end = draw(st.integers(begin + 10, 100 * length))
    return begin / 100, end / 100


@st.composite
def contents(draw: st.DrawFn) -> dict[str, tuple[tuple[int, int], tuple[FoundBox, ...]]]:
    """A few photos with odd names and odd sizes."""
    photos = {}
    for name in draw(st.lists(NAMES, min_size=1, max_size=4, unique_by=lambda name: name.split("/")[0].casefold())):
        height, width = draw(st.integers(1, 90)), draw(st.integers(1, 90))
        boxes = []
        for label in draw(st.lists(LABELS, max_size=3)):
            (x0, x1), (y0, y1) = draw(sides(width)), draw(sides(height))
            boxes.append(FoundBox(label, (x0, y0, x1, y1), 0.9, draw(st.integers(0, 100)) / 100))
        photos[name] = ((height, width), tuple(boxes))
    return photos


def outward(box: Box) -> Box:
    """The box in whole pixels, as VOC has it."""
    return (floor(box[0]), floor(box[1]), ceil(box[2]), ceil(box[3]))


def expected(labelled: LabelledPhotos, naming: Naming, whole_pixels: bool) -> Found:
    names = naming([photo.name for photo in labelled.photos])
    return {
        name: [(found.label, outward(found.box) if whole_pixels else found.box) for found in photo.boxes]
        for name, photo in zip(names, labelled.photos, strict=True)
    }


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Label Studio's models are of another pydantic
@pytest.mark.parametrize("tool", TOOLS)
@settings(max_examples=25)
@given(photos=contents())
def test_boxes_survive(tool: str, take_photos: Take, photos: dict[str, Any]) -> None:
    name, read, naming = TOOLS[tool]
    with TemporaryDirectory() as scratch:
        taken = take_photos(Path(scratch) / "photos", photos)
        labelled = replace(taken, classes=(*taken.classes, "a thing that was not found"))
        (folder,) = write_formats(labelled, [name], Path(scratch) / "out").folders
        found = read(folder)
    wanted = expected(labelled, naming, whole_pixels=name == "voc")
    assert set(found) == set(wanted)
    for photo, boxes in wanted.items():
        assert [label for label, _ in found[photo]] == [label for label, _ in boxes]
        for (_, box), (_, right) in zip(found[photo], boxes, strict=True):
            assert box == pytest.approx(right, abs=ROUNDING)

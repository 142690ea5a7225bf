"""Files for training: what RF-DETR, Hugging Face and FiftyOne insist on, and a split that stays as it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tag2box.data import FoundBox, LabelledPhoto, LabelledPhotos, read_tags, read_truth, write_formats
from tag2box.data.formats.splitting import split_photos

Take = Callable[..., LabelledPhotos]
CUP, PEN = FoundBox("cup", (1.25, 2.5, 30.75, 39.5), 0.9, 0.1), FoundBox("pen", (10, 10, 50, 40), 0.5, 0.5)


def photo(name: str, boxed: bool = True) -> LabelledPhoto:
    return LabelledPhoto(name, 60, 80, (CUP,) if boxed else ())


@pytest.fixture
def many(tmp_path: Path, take_photos: Take) -> LabelledPhotos:
    """Forty photos, half of them with boxes; things of whole pixels only in some, and a thing that none shows."""
    boxes = [(), (PEN,), (), (CUP, PEN)]
    contents = {f"{'test' if n % 3 else 'train'}/valid {n}.png": ((60, 80), boxes[n % 4]) for n in range(40)}
    taken = take_photos(tmp_path / "photos", contents)
    return replace(taken, classes=("cup", "unseen", "pen"))


def names_in(parts: dict[str, list[LabelledPhoto]]) -> dict[str, list[str]]:
    return {part: [each.name for each in photos] for part, photos in parts.items()}


def test_a_thousand_photos_are_split_by_seven_two_and_one() -> None:
    parts = split_photos([photo(f"mug/{number}.jpg") for number in range(1000)])
    assert [round(len(parts[part]), -2) for part in ("train", "valid", "test")] == [700, 200, 100]


NAMES = st.dictionaries(st.text(max_size=5), st.booleans(), max_size=12)


@given(NAMES)
def test_every_photo_is_in_one_part_and_what_can_be_chosen_by_is_there(names: dict[str, bool]) -> None:
    photos = [photo(name, boxed) for name, boxed in names.items()]
    parts = split_photos(photos)
    assert sorted(each.name for some in parts.values() for each in some) == sorted(names)
    boxed = {part: sum(bool(each.boxes) for each in some) for part, some in parts.items()}
    if sum(names.values()) > 1:
        assert boxed["train"]
        assert boxed["valid"]
    assert all(boxed[part] or not parts[part] for part in ("valid", "test"))
    assert names_in(split_photos(photos[::-1])) == {part: names[::-1] for part, names in names_in(parts).items()}


def test_photos_stay_where_they_are_when_others_come() -> None:
    before = split_photos([photo(f"{number}.jpg") for number in range(50)])
    after = split_photos([photo(f"{number}.jpg") for number in range(100)])
    assert all(set(names) <= set(names_in(after)[part]) for part, names in names_in(before).items())
    assert names_in(before)["test"] == names_in(split_photos([photo(f"{number}.jpg") for number in range(50)]))["test"]


def test_the_split_is_the_same_on_every_machine() -> None:
    """By hand: sha256 of "a" begins with ca (79 %), of "b" with 3e (24 %), of "i" with de (87 %), of "5" with ef."""
    assert names_in(split_photos([photo(name) for name in "abi5"])) == {
        "train": ["b"],
        "valid": ["a", "i"],
        "test": ["5"],
    }


def test_roboflow_has_what_rf_detr_reads(many: LabelledPhotos, tmp_path: Path) -> None:
    write_formats(many, ["roboflow"], tmp_path)
    categories = []
    for part in ("train", "valid", "test"):
        content = json.loads((tmp_path / "roboflow" / part / "_annotations.coco.json").read_text())
        categories.append(content["categories"])
        ids = {image["id"]: image for image in content["images"]}
        assert all((tmp_path / "roboflow" / part / image["file_name"]).is_file() for image in ids.values())
        for box in content["annotations"]:
            assert box["image_id"] in ids
            assert box["area"] == pytest.approx(box["bbox"][2] * box["bbox"][3], abs=0.01)
            assert box["iscrowd"] == 0
        assert content["annotations"]
        assert len({box["id"] for box in content["annotations"]}) == len(content["annotations"])
    assert categories[0] == categories[1] == categories[2]
    assert [(one["id"], one["name"], one["supercategory"]) for one in categories[0]] == [
        (1, "cup", "none"),
        (2, "unseen", "none"),
        (3, "pen", "none"),
    ]


def test_a_part_without_photos_is_there_all_the_same(many: LabelledPhotos, tmp_path: Path) -> None:
    """RF-DETR wants a file in each of the three."""
    write_formats(replace(many, photos=many.photos[1:2]), ["roboflow", "huggingface"], tmp_path)
    for part in ("valid", "test"):
        content = json.loads((tmp_path / "roboflow" / part / "_annotations.coco.json").read_text())
        assert (content["images"], content["annotations"], len(content["categories"])) == ([], [], 3)
    assert len(read_truth(tmp_path / "roboflow")) == len(read_tags(tmp_path / "roboflow").photos) == 1
    assert sorted(path.name for path in (tmp_path / "huggingface").glob("[!.]*")) == ["classes.json", "train"]


def lines_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metadata.jsonl").read_text(encoding="utf-8").splitlines()]


def test_huggingface_has_what_datasets_and_its_trainers_read(many: LabelledPhotos, tmp_path: Path) -> None:
    write_formats(many, ["huggingface"], tmp_path)
    folder = tmp_path / "huggingface"
    assert json.loads((folder / "classes.json").read_text()) == ["cup", "unseen", "pen"]
    assert sorted(path.name for path in folder.glob("[!.]*")) == ["classes.json", "test", "train", "validation"]
    lines = [(part, line) for part in ("train", "validation", "test") for line in lines_of(folder / part)]
    assert all((folder / part / line["file_name"]).is_file() for part, line in lines)
    assert sorted(line["image_id"] for _, line in lines) == list(range(1, 41))
    things = [line["objects"] for _, line in lines]
    assert sorted(number for thing in things for number in thing["id"]) == list(range(1, 31))
    both = next(thing for thing in things if len(thing["bbox"]) == 2)
    assert (both["category"], both["area"]) == ([0, 2], [1091.5, 1200.0])
    assert both["bbox"] == [[1.25, 2.5, 29.5, 37.0], [10.0, 10.0, 40.0, 30.0]]


def test_numbers_of_boxes_are_of_one_kind_in_all_parts(many: LabelledPhotos, tmp_path: Path) -> None:
    """Whole numbers in one part and others in the next are "different features"; so are empty lists alone."""
    write_formats(many, ["huggingface"], tmp_path)
    for part in ("train", "validation", "test"):
        things = [line["objects"] for line in lines_of(tmp_path / "huggingface" / part)]
        sides = [side for thing in things for box in thing["bbox"] for side in box]
        assert {type(side) for side in sides} == {float}
        assert {type(area) for thing in things for area in thing["area"]} == {float}


def test_fiftyone_gets_scores_and_names_from_its_data_folder(many: LabelledPhotos, tmp_path: Path) -> None:
    tagged = replace(many, photos=tuple(replace(one, tags=("cup",)) for one in many.photos if one.boxes))
    write_formats(tagged, ["fiftyone"], tmp_path)
    content = json.loads((tmp_path / "fiftyone" / "labels.json").read_text())
    for image in content["images"]:
        assert (tmp_path / "fiftyone" / "data" / image["file_name"]).is_file()
        assert set(image) == {"id", "file_name", "width", "height"}
    assert {box["score"] for box in content["annotations"]} == {0.9, 0.5}
    assert "attributes" not in content["annotations"][0]


def test_datasets_loads_what_we_write(many: LabelledPhotos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the real package, where it is installed."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets: Any = pytest.importorskip("datasets", reason="datasets is not installed: pip install datasets")
    written = write_formats(many, ["huggingface"], tmp_path)
    found = datasets.load_dataset("imagefolder", data_dir=str(tmp_path / "huggingface"))
    assert {part: len(some) for part, some in found.items()} == {
        "train": written.parts["train"],
        "validation": written.parts["valid"],
        "test": written.parts["test"],
    }
    row = next(row for row in found["train"] if len(row["objects"]["id"]) == 2)
    assert row["objects"]["bbox"][0] == [1.25, 2.5, 29.5, 37.0]
    assert row["image"].size == (row["width"], row["height"])

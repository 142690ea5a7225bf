"""Tags and boxes from YOLO labels, and the little of YAML that leads to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tag2box.data import TagSet, read_tags, read_truth
from tag2box.data.formats.yolo_yaml import read_yolo_yaml
from tag2box.errors import DatasetError, TagsError

Write = Callable[[Mapping[str, str | bytes]], Path]
LABELS = {
    "images/train/a.jpg": "a",
    "labels/train/a.txt": "1 0.5 0.5 0.1 0.1\r\n\n0 0.2 0.2 0.1 0.1\n1.0 0 0 1 1 0 1\n",
    "images/val/b.jpg": "b",
    "labels/val/b.txt": "",
    "images/val/c.jpg": "c",
}
READ = {"images/train/a.jpg": {"cat", "dog"}, "images/val/b.jpg": set(), "images/val/c.jpg": set()}
YAML = "train: images/train\nval: images/val\nnames: [cat, dog]\n"


def summary(tags: TagSet) -> dict[str, set[str]]:
    return {photo.name: set(photo.tags) for photo in tags.photos}


@pytest.mark.parametrize("name", ["data.yaml", "pets.yml"])
def test_a_yaml_file_leads_to_photos_and_labels(write: Write, name: str) -> None:
    place = write({**LABELS, name: YAML})
    tags = read_tags(place / name)
    assert summary(tags) == READ
    assert (tags.folder, tags.classes, tags.source) == (place, ("cat", "dog"), "YOLO")
    assert read_tags(place) == tags


def test_a_list_of_classes_beside_images_and_labels_does_too(write: Write) -> None:
    tags = read_tags(write({**LABELS, "classes.txt": "cat\r\ndog\r\n\r\n"}))
    assert summary(tags) == READ
    assert tags.source == "YOLO"


@pytest.mark.parametrize("root", ["path: .\n", "path: ../no/longer/there\n", ""])
def test_a_moved_dataset_is_found_beside_its_file(write: Write, root: str) -> None:
    assert summary(read_tags(write({**LABELS, "data.yaml": root + YAML}))) == READ


def test_the_paths_of_roboflow_are_understood(write: Write) -> None:
    place = write({
        "train/images/a.jpg": "a",
        "train/labels/a.txt": "0 0 0 1 1",
        "valid/images/b.jpg": "b",
        "data.yaml": "train: ../train/images\nval: ../valid/images\n\nnc: 1\nnames: ['cat']\nroboflow:\n  project: x\n",
    })  # fmt: skip
    assert summary(read_tags(place)) == {"train/images/a.jpg": {"cat"}, "valid/images/b.jpg": set()}


def test_photos_elsewhere_move_the_folder_where_names_begin(write: Write) -> None:
    place = write({**LABELS, "settings/data.yaml": f"path: ..\n{YAML}"})
    tags = read_tags(place / "settings" / "data.yaml")
    assert (tags.folder, summary(tags)) == (place / "images", {k.removeprefix("images/"): v for k, v in READ.items()})
    write({"settings/data.yaml": f"path: {place}\n{YAML}"})
    assert read_tags(place / "settings" / "data.yaml") == tags


def test_labels_may_lie_beside_photos_and_photos_may_serve_twice(write: Write) -> None:
    place = write({"all/a.jpg": "a", "all/a.txt": "0 0 0 1 1", "data.yaml": "train: all\nval: all\nnames: [cat]"})
    assert summary(read_tags(place)) == {"all/a.jpg": {"cat"}}


@pytest.mark.parametrize(
    "names",
    [
        "names: [cat, 'big dog', \"it's, well\", o'clock]",
        "names: [cat, big dog,  # two\n  \"it's, well\",\n  o'clock,\n]",
        "names:\n- cat\n- big dog  # a comment\n- \"it's, well\"\n- 'o''clock'",
        "names:\n  - cat\n\n  # a comment\n  - 'big dog'\n  - it's, well\n  - o'clock # it's late",
        "names:\n  0: cat\n  2: \"it's, well\"\n  1: big dog\n  3: o'clock",
        "names : ['cat','big dog',\"it\\u0027s, well\",o'clock]",
    ],
)
def test_names_are_read_however_they_are_written(write: Write, names: str) -> None:
    text = f"%YAML 1.2\n---\n# pets\ntrain: [a, 'b c']\nval:\nflip-idx: {{}}\n{names}\ndownload: |\n  echo: [\n...\n"
    read = read_yolo_yaml(write({"data.yaml": text}) / "data.yaml")
    assert read.names == {0: "cat", 1: "big dog", 2: "it's, well", 3: "o'clock"}
    assert read.photos == ("a", "b c")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "names no classes"),
        ("names: [cat]", "of no photos where they are"),
        ("train: images\nnames: cat", "names no classes"),
        ("train: images\nnames: [cat, dog", "names is a list without its ]"),
        ("train: images\nnames: [cat,, dog]", "names has ', dog' in its list"),
        ("train: images\nnames: [[cat], dog]", r"names has '\[cat\], dog' in its list"),
        ("train: images\nnames: ['cat]", "names has"),
        ('train: images\nnames: ["\\q"]', "names is not JSON"),
        ("train: images\nnames: {0: cat}", "names has '{0: cat}'"),
        ("train: images\nnames: *pets", r"names has '\*pets'"),
        ("train: images\nnames:\n  cat: 0", "neither a list nor a mapping of numbers"),
        ("train: images\nnames:\n  - cat\n  1: dog", "neither a list nor a mapping"),
        ("train: images\nnames:\n  0: cat\n  0: dog", "neither a list nor a mapping"),
        ("train: images\nnames:\n  -\n", "names has ''"),
        ("train: images\nnames:\n  - name: cat", "names has 'name: cat'"),
        ("train:\n  0: images\nnames: [cat]", "train is not a path"),
        ("path: [a, b]\ntrain: images\nnames: [cat]", "several paths"),
        ("train: nowhere\nnames: [cat]", "photos at 'nowhere', which is not a folder"),
        ("train: list.txt\nnames: [cat]", r"a list of photos \(\.txt\) is not read"),
        ("train: images\nnames: [cat]\nwhat is this\n", "line 3, is 'what is this'"),
        ("  - cat\n", "line 1, is '  - cat'"),
        (b"train: images\nnames: [caf\xe9]", "is not UTF-8: byte 25, in line 2"),
    ],
)
def test_a_yaml_file_that_is_not_understood_is_refused(write: Write, content: str | bytes, message: str) -> None:
    with pytest.raises(TagsError, match=message):
        read_tags(write({**LABELS, "data.yaml": content}) / "data.yaml")


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("0 0 0 1 1\n2 0 0 1 1", r"a\.txt, line 2, begins with '2'"),
        ("cat 0 0 1 1", r"a\.txt, line 1, begins with 'cat'"),
        ("-1 0 0 1 1", "begins with '-1'"),
        ("0.5 0 0 1 1", "begins with '0.5'"),
        ("nan", "begins with 'nan'"),
        ("9" * 5000, "begins with '9+'"),
        (b"\xff", r"a\.txt is not UTF-8"),
        ("", "no photo in .* has a tag; it has 3 without"),
    ],
)
def test_labels_with_a_fault_are_refused_at_their_place(write: Write, label: str | bytes, message: str) -> None:
    with pytest.raises(TagsError, match=message):
        read_tags(write({**LABELS, "labels/train/a.txt": label, "data.yaml": YAML}))


def test_a_class_without_a_name_cannot_be_a_tag(write: Write) -> None:
    with pytest.raises(TagsError, match="begins with '1'"):
        read_tags(write({**LABELS, "classes.txt": "cat\n\ndog"}))


def test_of_several_yaml_files_the_one_that_names_classes_counts(write: Write) -> None:
    place = write({**LABELS, "compose.yaml": "services:\n  x: y\n", "pets.yaml": YAML})
    assert summary(read_tags(place)) == READ
    write({"other.yaml": YAML})
    with pytest.raises(TagsError, match=r"has other\.yaml, pets\.yaml"):
        read_tags(place)
    write({"data.yaml": YAML})
    assert summary(read_tags(place)) == READ


def boxed(write: Write, label: str) -> Path:
    place = write({"images/a.png": "", "labels/a.txt": label, "data.yaml": "train: images\nnames: [cat, dog]\n"})
    Image.new("RGB", (200, 100)).save(place / "images/a.png")
    return place


def test_boxes_are_shares_of_the_photo(write: Write) -> None:
    """A box, a box with a confidence, and a polygon."""
    lines = "1 0.5 0.5 0.1 0.2\n0 0.5 0.5 0.1 0.2 0.93\n0 0.1 0.2 0.4 0.3 0.2 0.9\n"
    truth = read_truth(boxed(write, lines))
    assert truth.classes == ("cat", "dog")
    (image,) = truth.images
    assert (image.height, image.width, image.image_id) == (100, 200, "images/a.png")
    assert image.truth.labels.tolist() == ["dog", "cat", "cat"]
    wanted = [[90, 40, 110, 60], [90, 40, 110, 60], [20, 20, 80, 90]]
    np.testing.assert_allclose(image.truth.boxes, wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("0 0.5 0.5", r"a\.txt, line 1, has 2 numbers after the class"),
        ("0 0 0 1 1\n0 0 0 1 1 0 1 0", "line 2, has 7 numbers"),
        ("0 0 0 x 1", "line 1 has a box that is not made of numbers"),
        ("0 0 0 inf 1", "line 1 has a box that is not made of numbers"),
        ("7 0 0 1 1", "begins with '7'"),
    ],
)
def test_boxes_with_a_fault_are_refused_at_their_place(write: Write, label: str, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        read_truth(boxed(write, label))


def test_a_photo_whose_size_is_not_known_is_named(write: Write) -> None:
    place = boxed(write, "0 0.5 0.5 0.1 0.2")
    (place / "images/a.png").write_bytes(b"broken")
    with pytest.raises(DatasetError, match=r"how large the photo .*a\.png is"):
        read_truth(place)


def test_letters_by_their_number_are_read(write: Write) -> None:
    text = 'train: a\nnames: ["a\\U0000200bb", "\\\\U00000041", "\\u00e9"]\n'
    assert read_yolo_yaml(write({"data.yaml": text}) / "data.yaml").names == {0: "a\u200bb", 1: "\\U00000041", 2: "é"}

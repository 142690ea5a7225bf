"""Experiments as files: those that ship can be read, and a mistake in one is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from tag2box.errors import DatasetError, SpecificationError
from tag2box.experiments.bench.sources import PATHS_NAME, SOURCES, annotation_file, annotations_hash
from tag2box.experiments.bench.specification import read_specification
from tag2box.methods.lineup import add_choice, choice_beside, load_choice, save_choice

SHIPPED = sorted((Path(__file__).parents[2] / "experiments").glob("*.toml"))
GOOD = 'title = "t"\nclaim = "c"\ndataset = "voc07"\nmethods = ["vmf-mil"]\n'


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_experiment_that_ships_can_be_run(path: Path) -> None:
    asked = read_specification(path)
    assert asked.dataset in SOURCES
    assert f"experiments/{path.name}" in path.read_text()  # the header says how to run it


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (GOOD + "kappas = 3\n", "unknown key 'kappas'"),
        (GOOD.replace("vmf-mil", "vmf-mli"), "methods is 'vmf-mli'"),
        (GOOD + 'draw = "often"\n', "draw is 'often'"),
        (GOOD + 'draw = "by objects"\nways = [1, 5]\n', r"ways is \(1, 5\)"),
        (GOOD + "shots = []\n", "shots is"),
        (GOOD + "tasks = 0\n", "tasks is"),
        (GOOD + '[[paper]]\nmethod = "mi-svm"\nmeasure = "mAP"\nvalue = 1\n', "paper is 'mi-svm'"),
        (GOOD + '[[expect]]\nbetter = "vmf-mil"\nworse = "vmf-mil"\nmeasure = "speed"\n', "expect is 'speed'"),
        (GOOD + '[[expect]]\nbeter = "vmf-mil"\n', "unknown key 'beter'"),
        ('title = "t"\n', "missing"),
        ("title = ", "cannot be read"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(SpecificationError, match=complaint) as raised:
        read_specification(path)
    assert "wrong.toml" in raised.value.wrong


def test_the_data_folder_may_say_where_its_datasets_are(tmp_path: Path) -> None:
    assert annotation_file(tmp_path, "voc07") == tmp_path / "voc07/test.json"
    (tmp_path / PATHS_NAME).write_text('voc07 = "VOCdevkit/VOC2007/ImageSets/Main/test.txt"\n')
    assert annotation_file(tmp_path, "voc07") == tmp_path / "VOCdevkit/VOC2007/ImageSets/Main/test.txt"
    assert annotation_file(tmp_path, "coco60 novel") == tmp_path / "coco60/novel_pool.json"
    with pytest.raises(DatasetError, match="no dataset 'voc08'"):
        annotation_file(tmp_path, "voc08")
    (tmp_path / PATHS_NAME).write_text("voc07 = ")
    with pytest.raises(DatasetError, match=PATHS_NAME):
        annotation_file(tmp_path, "voc07")


def test_the_hash_of_annotations_is_that_of_their_meaning(tmp_path: Path) -> None:
    path = tmp_path / "voc07/test.json"
    path.parent.mkdir()
    Image.new("RGB", (40, 30)).save(path.parent / "1.jpg")

    def hashed(**changes: object) -> str:
        thing = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "iscrowd": 0, "difficult": 0}
        image = {"id": 1, "file_name": "1.jpg", "height": 30, "width": 40}
        kinds = [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}]
        content = {"images": [image], "annotations": [thing | changes], "categories": kinds}
        path.write_text(json.dumps(content, indent=len(changes)))
        return annotations_hash(tmp_path, "voc07")

    changes: list[dict[str, object]] = [{"bbox": [1, 2, 3, 5]}, {"category_id": 2}, {"iscrowd": 1}, {"difficult": 1}]
    hashes = [hashed(), *(hashed(**change) for change in changes)]
    assert len(set(hashes)) == len(hashes)
    assert hashed(id=7, caption="of no meaning here") == hashes[0]


def test_an_image_set_is_read_whenever_its_hash_is_asked_for(tmp_path: Path) -> None:
    """The list of names stays as it is when an annotation of it changes."""
    folder = tmp_path / "VOCdevkit" / "VOC2007"
    for name in ("ImageSets/Main", "Annotations"):
        (folder / name).mkdir(parents=True)
    (folder / "ImageSets/Main/test.txt").write_text("1\n")
    (tmp_path / PATHS_NAME).write_text('voc07 = "VOCdevkit/VOC2007/ImageSets/Main/test.txt"\n')
    hashes = []
    for edge in (20, 21):
        box = f"<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>{edge}</xmax><ymax>20</ymax></bndbox>"
        size = "<size><width>40</width><height>30</height></size>"
        text = f"<annotation>{size}<object><name>cat</name>{box}</object></annotation>"
        (folder / "Annotations/1.xml").write_text(text)
        hashes.append(annotations_hash(tmp_path, "voc07"))
    assert hashes[0] != hashes[1]


def test_settings_are_added_method_by_method(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    add_choice(path, "vmf-mil", {"kappa": 15.0, "background_weight": 3.0, "steps": 20.0}, {"tasks": 250})
    add_choice(path, "mi-svm", {"gamma": 0.5, "cost": 1.0}, {"tasks": 100})
    add_choice(path, "vmf-mil", {"kappa": 16.0, "background_weight": 3.0, "steps": 20.0}, {"tasks": 300})
    chosen = load_choice(path, ["vmf-mil", "mi-svm"])
    assert chosen == {
        "vmf-mil": {"kappa": 16.0, "background_weight": 3.0, "steps": 20.0},
        "mi-svm": {"gamma": 0.5, "cost": 1.0},
    }
    assert json.loads(path.read_text())["chosen"] == {"vmf-mil": {"tasks": 300}, "mi-svm": {"tasks": 100}}


def test_settings_of_another_method_are_found(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    save_choice(path, {"vmf-mil": {"kappa": 15.0, "background_weight": 3.0, "steps": 20.0}})
    chosen = load_choice(path, ["vmf-mil", "prototypical", "whole-image"])
    assert chosen["prototypical"] == chosen["vmf-mil"] == {"kappa": 15.0, "background_weight": 3.0, "steps": 20.0}
    assert chosen["whole-image"] == {}
    with pytest.raises(SpecificationError, match="no settings for vmf-mil-detector"):
        load_choice(path, ["vmf-mil-detector"])
    assert choice_beside(path, "vmf-mil-detector") == chosen["vmf-mil"]
    assert choice_beside(path, "mi-svm") == {}
    add_choice(path, "vmf-mil-detector", {"tau": 10.0, "balanced": 1.0}, {})
    assert load_choice(path, ["vmf-mil-detector"])["vmf-mil-detector"] == {
        **chosen["vmf-mil"],
        "tau": 10.0,
        "balanced": 1.0,
    }
    with pytest.raises(SpecificationError, match="no settings for mi-svm"):
        load_choice(path, ["mi-svm"])
    path.write_text("{}")
    with pytest.raises(SpecificationError, match=r"settings\.json cannot be read"):
        load_choice(path, ["vmf-mil"])

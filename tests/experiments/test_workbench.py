"""Where the annotations of a dataset are, whether they are still the same, and what is composed of base photos."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from PIL import Image

from planted_bench import plant_bench, plant_elder_twin
from tag2box.data import Dataset, DatasetImage, held_out_classes, load_split
from tag2box.errors import DatasetError, SpecificationError
from tag2box.experiments.bench import workbench
from tag2box.experiments.bench.sources import BASE, HELD_OUT, PATHS_NAME, SAME_SCENE, annotation_file, annotations_hash
from tag2box.experiments.bench.specification import Specification
from tag2box.experiments.bench.workbench import Workbench, bench_for, bench_if_any
from tag2box.experiments.composed import BOXES_NAME, Plan, in_round
from tag2box.model import Settings, save_settings
from tag2box.progress import Report, silent


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
    for name in ("ImageSets/Main", "Annotations", "JPEGImages"):
        (folder / name).mkdir(parents=True)
    Image.new("RGB", (40, 30)).save(folder / "JPEGImages" / "1.jpg")
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


# Photos that share a scene


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return plant_bench(tmp_path, images=3)


def test_a_round_is_a_dataset_with_features_of_its_own(bench: Workbench) -> None:
    labels = held_out_classes(load_split("coco60").base)[:4]
    seen: set[str] = set()
    for number, name in enumerate(SAME_SCENE, 1):
        dataset, pool = bench.load(name), bench.pool(name)
        assert set(dataset.classes) == {in_round(label, number) for label in labels}
        assert len(dataset) == 12
        for image in dataset.images:
            assert pool.bag(image.image_id).image_id == image.image_id
            assert pool.truths[image.image_id].labels.tolist() == image.truth.labels.tolist()
        assert not seen & {image.image_id for image in dataset.images}
        seen |= {image.image_id for image in dataset.images}
        assert bench.missing(name) == []


def test_what_is_missing_is_composed_once_and_extracted(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned: list[tuple[Dataset, list[str]]] = []
    plans = [Plan(("a plan",), (), [])] * 7
    composed: list[Sequence[Plan]] = []
    extracted: list[tuple[str, int]] = []
    shown: list[str] = []
    kept = bench.same_scene.rename(tmp_path / "kept")

    def plan(dataset: Dataset, classes: Collection[str]) -> list[Plan]:
        planned.append((dataset, list(classes)))
        return plans

    def compose(asked: Sequence[Plan], folder: Path, report: Report) -> None:
        composed.append(asked)
        shutil.copytree(kept, folder)

    def extract(self: Workbench, name: str, images: list[DatasetImage], report: Report) -> None:
        extracted.append((name, len(images)))

    @contextmanager
    def progress(title: str, total: int) -> Iterator[Report]:
        shown.append(f"{title}: {total}")
        yield silent

    monkeypatch.setattr(workbench, "plan_same_scene", plan)
    monkeypatch.setattr(workbench, "compose", compose)
    monkeypatch.setattr(Workbench, "extract", extract)
    shutil.rmtree(bench.folder / "same-scene-2")
    bench.fit_knowledge(progress)
    shown.clear()
    for name in SAME_SCENE[:2]:
        bench.prepare(name, progress)
    ((dataset, classes),) = planned
    assert composed == [plans]
    assert classes == list(held_out_classes(load_split("coco60").base))
    assert dataset.classes == bench.load(BASE).classes  # with all that is labelled: a scene is empty
    assert extracted == [(SAME_SCENE[1], 12)]
    assert shown == ["Composing photos that share a scene: 7", "Extracting same scene 2: 12"]


def test_base_photos_show_nothing_that_tasks_on_them_can_ask_for(bench: Workbench, tmp_path: Path) -> None:
    shutil.rmtree(bench.folder / "coco60-base")
    base, held_out = bench.load(BASE).images, set(held_out_classes(load_split("coco60").base))
    known = {image.image_id for image in base if not image.tags & held_out}
    assert {image.image_id for image in bench.missing(BASE)} == known
    assert 0 < len(known) < len(base)
    elder = Workbench(bench.data, tmp_path / "none", plant_elder_twin(bench, tmp_path / "elder"))
    assert len(elder.missing(BASE)) == len(base)  # it has learned them all: held-out tasks are not for it


def test_other_base_photos_are_other_scenes(bench: Workbench) -> None:
    before = bench.same_scene
    path = annotation_file(bench.data, BASE)
    content = json.loads(path.read_text())
    content["annotations"][0]["bbox"][2] += 1
    path.write_text(json.dumps(content))
    assert bench.same_scene != before


def test_an_experiment_can_ask_for_photos_of_one_scene(bench: Workbench, tmp_path: Path) -> None:
    """Other rounds, and other photos, are other rows."""
    save_settings(tmp_path / "settings.json", Settings({}))

    def row(name: str) -> str:
        (only,) = bench.rows(
            Specification("A table", "A question?", name, ("top-objectness",)), tmp_path / "settings.json"
        )
        assert only.dataset == name
        return only.annotations

    before = [row(name) for name in SAME_SCENE]
    assert len(set(before)) == len(SAME_SCENE)
    assert [row(name) for name in SAME_SCENE] == before
    path = bench.same_scene / BOXES_NAME
    content = json.loads(path.read_text())
    content["annotations"][0]["bbox"][2] += 1
    path.write_text(json.dumps(content))
    changed = [row(name) for name in SAME_SCENE]
    assert changed[0] != before[0]
    assert changed[1:] == before[1:]


def test_photos_that_people_took_help_to_choose_where_there_are_some(tmp_path: Path) -> None:
    bench = Workbench(tmp_path, tmp_path / "store")
    assert list(bench.like_users) == [(HELD_OUT,), SAME_SCENE]
    for name in ("cards", "debris"):
        (tmp_path / "practical" / name).mkdir(parents=True)
        (tmp_path / "practical" / name / "boxes.json").write_text("{}")
    assert list(bench.like_users) == [(HELD_OUT,), SAME_SCENE, ("practical debris", "practical cards")]


def test_a_dataset_may_be_made_of_two(tmp_path: Path) -> None:
    """The novel classes of COCO63 are in photos of base classes of COCO60, and in those of novel ones."""
    novel = load_split("coco63").novel
    for file, kinds, first in (("base_val2017", ("cup", "toilet"), 1), ("novel_pool", ("cat", "bird"), 10)):
        path = tmp_path / f"coco60/{file}.json"
        path.parent.mkdir(exist_ok=True)
        categories = [{"id": n, "name": name} for n, name in enumerate(("cup", "toilet", "cat", "bird"), 1)]
        images, things = [], []
        for number, name in enumerate(kinds, first):
            Image.new("RGB", (40, 30)).save(path.parent / f"{number}.jpg")
            images.append({"id": number, "file_name": f"{number}.jpg", "height": 30, "width": 40})
            own = next(each["id"] for each in categories if each["name"] == name)
            things.append({"id": number, "image_id": number, "category_id": own, "bbox": [1, 2, 3, 4]})
        path.write_text(json.dumps({"images": images, "annotations": things, "categories": categories}))
    loaded = Workbench(tmp_path, tmp_path).load("coco63 novel")
    assert set(loaded.classes) == {"cup", "cat"} <= set(novel)
    assert [sorted(image.tags) for image in loaded.images] == [["cup"], [], ["cat"], []]
    assert annotations_hash(tmp_path, "coco63 novel") != annotations_hash(tmp_path, "coco60 novel")


def test_a_table_takes_a_model_that_has_not_learned_its_classes(tmp_path: Path) -> None:
    bench = plant_bench(tmp_path, images=3)
    elder = plant_elder_twin(bench, tmp_path / "elder", images=3)
    asked = Specification("t", "q?", HELD_OUT, ("vmf-mil",))
    younger = bench.model
    assert younger is not None
    assert bench_for(asked, bench.data, bench.store, [elder, younger]).model == younger
    assert bench_for(asked, bench.data, bench.store, [younger, elder]).model == younger
    with pytest.raises(SpecificationError, match="which every model has learned"):
        bench_for(asked, bench.data, bench.store, [elder])
    assert bench_if_any(asked, bench.data, bench.store, [elder]) is None
    with pytest.raises(SpecificationError, match="which every model has learned"):
        bench_for(asked, bench.data, bench.store, [])  # the one that ships

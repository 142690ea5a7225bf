"""From tagged photos to a run: which boxes need a look, further things, the report and the folder."""

from __future__ import annotations

import contextlib
import html
import io
import json
import re
import shutil
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocotools.coco import COCO

import tag2box
from samples import random_units, unit
from tag2box.data import LabelledPhotos, TaggedPhoto, TagSet
from tag2box.data.formats.coco import BOXES_NAME, read_boxes, write_boxes
from tag2box.data.tags import shared_tags
from tag2box.errors import PhotoError, RunError, TagsError
from tag2box.methods.calibration import Calibration, Judge
from tag2box.methods.detectors import Spread
from tag2box.methods.localizers import NO_BACKGROUND, VmfMil
from tag2box.product.knowledge import Knowledge, knowledge_of
from tag2box.product.localizing import (
    Localized,
    Suspicion,
    localize_photos,
    need_a_look,
    with_all_instances,
)
from tag2box.product.report import write_report
from tag2box.product.run_folder import FEATURES_NAME, RUN_NAME, begin_run, extract_tagged, finish_run
from tag2box.store import FeatureStore, StoreHeader, StoreWriter
from tag2box.types import ProposalBag

DEMO = Path(tag2box.__file__).parent / "assets" / "demo"


def nothing(done: int, figures: dict[str, float]) -> None:
    """Report to nobody."""


# Which boxes need a look


def suspicions(doubts: list[float]) -> list[Suspicion]:
    photos = (TaggedPhoto(f"{number}.jpg", Path(f"{number}.jpg"), frozenset({"mug"})) for number in range(len(doubts)))
    return [Suspicion("mug", photo, doubt, 0.0) for photo, doubt in zip(photos, doubts, strict=True)]


def test_what_needs_a_look_by_hand() -> None:
    given_ones = suspicions([0.9, 0.0, 0.3, 0.1])
    shown = {rate: [each.doubt for each in need_a_look(given_ones, rate)] for rate in (0.0, 0.05, 0.14, 0.32, 0.33, 1)}
    assert shown[0.0] == [0.9, 0.3, 0.1]
    assert shown[0.05] == [0.9, 0.3]  # (0.0 + 0.1) / 2 is no more than 0.05
    assert shown[0.14] == [0.9]  # 0.4 / 3
    assert shown[0.32] == [0.9]
    assert shown[0.33] == []  # 1.3 / 4
    assert shown[1] == []
    assert need_a_look([], 0.5) == []


@given(st.lists(st.floats(0, 1), max_size=30), st.floats(0, 1), st.floats(0, 1))
def test_of_the_others_no_more_than_the_rate_is_expected_to_be_wrong(
    doubts: list[float], one: float, other: float
) -> None:
    everything = suspicions(doubts)
    low, high = sorted((one, other))
    shown = need_a_look(everything, low)
    rest = [each.doubt for each in everything if each not in shown]
    assert np.mean(rest or [0.0]) <= low + 1e-12
    assert [each.doubt for each in shown] == sorted((each.doubt for each in shown), reverse=True)
    assert min((each.doubt for each in shown), default=1.0) >= max(rest, default=0.0)
    if shown:  # one more would be one too many
        assert np.mean([*rest, shown[-1].doubt]) > low - 1e-12
    assert {each.photo.name for each in need_a_look(everything, high)} <= {each.photo.name for each in shown}


def test_tags_that_can_be_learned_and_those_that_cannot() -> None:
    tags = {"a": {"mug", "pen"}, "b": {"mug"}, "c": set(), "d": {"cup"}}
    photos = [TaggedPhoto(name, Path(name), frozenset(words)) for name, words in tags.items()]
    assert shared_tags(photos) == ({"mug": ["a", "b"]}, ["cup", "pen"])
    with pytest.raises(TagsError, match="two photos that can be used; with one photo: cup, mug, pen"):
        shared_tags([photos[0], photos[3]])
    with pytest.raises(TagsError, match=r"no tag has two photos that can be used\."):
        shared_tags([])


# Planted photos: two kinds of thing, at known places, on a floor of other regions

D = 64
HERE, THERE, FAR = ([10, 10, 40, 40], [60, 10, 90, 40], [10, 60, 40, 90])
PART = [60, 10, 80, 30]
"""Lies in THERE, and overlaps it by less than detections of one class are suppressed for."""


def planted_bag(name: str, things: dict[str, list[list[int]]], rng: np.random.Generator) -> ProposalBag:
    """A photo of 100 by 100 pixels; each kind of thing is an axis of the features."""
    kinds = {"mug": 0, "pen": 1}
    axes = np.eye(D)[[kinds[label] for label in things]]
    boxes, rows = [[0, 0, 100, 100]], [unit(axes.sum(axis=0) + random_units(rng, 1, D)[0])]  # a little of everything
    for label, places in things.items():
        boxes += places
        rows += [unit(8.0 * np.eye(D)[kinds[label]] + rng.standard_normal(D) / 10) for _ in places]
    for _ in range(5):
        x, y = rng.integers(0, 70, 2).tolist()
        boxes.append([x, y, x + 9, y + 9])
        rows.append(random_units(rng, 1, D)[0])
    return ProposalBag.from_raw(name, boxes, np.stack(rows), np.full(len(rows), 0.5))


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Localized, FeatureStore, Knowledge]:
    things = {
        "a": {"mug": [HERE]},
        "b": {"mug": [HERE, [14, 14, 40, 40], THERE, PART]},
        "c": {"mug": [HERE], "pen": [THERE]},
        "d": {"pen": [THERE]},
        "e": {"pen": [THERE, [62, 12, 92, 42], FAR], "mug": [HERE]},  # and nobody tagged the mug
        "f": {},
    }
    tags = {"a": {"mug"}, "b": {"mug"}, "c": {"mug", "pen"}, "d": {"pen"}, "e": {"pen"}, "f": set()}
    folder, rng = tmp_path_factory.mktemp("planted"), np.random.default_rng(0)
    with StoreWriter(folder / "store", StoreHeader("planted", D)) as writer:
        for name, content in things.items():
            writer.append(planted_bag(name, content, rng))
    spread = Spread(np.zeros(D), np.eye(D) / D)
    calibration = Calibration(Judge((0.0,) * 5, -2.0), Judge((0.0,) * 2, -2.0), 0.5, 0.0)
    chosen = {
        "ridge": 1.0,
        "likeness_weight": 1.0,
        "kappa": 30.0,
        "objectness_weight": 0.0,
        "background_weight": 1.0,
        "steps": 20.0,
    }
    knowledge = Knowledge("planted", VmfMil(30.0, NO_BACKGROUND), spread, calibration, chosen)
    photos = tuple(TaggedPhoto(name, folder / name, frozenset(words)) for name, words in tags.items())
    store = FeatureStore(folder / "store")
    return localize_photos(TagSet(folder, photos, "by hand"), store, knowledge, nothing), store, knowledge


def places(labelled: LabelledPhotos) -> dict[str, list[tuple[str, list[int]]]]:
    return {
        photo.name: [(box.label, [round(edge) for edge in box.box]) for box in photo.boxes] for photo in labelled.photos
    }


def test_one_box_for_each_tag_of_each_photo(planted: tuple[Localized, FeatureStore, Knowledge]) -> None:
    found = places(planted[0].labelled())
    assert {name: [label for label, _ in boxes] for name, boxes in found.items()} == {
        "a": ["mug"], "b": ["mug"], "c": ["mug", "pen"], "d": ["pen"], "e": ["pen"], "f": []
    }  # fmt: skip
    assert found["a"] == [("mug", HERE)]
    assert found["c"] == [("mug", HERE), ("pen", THERE)]


def test_further_things_are_added_once_and_only_of_the_photos_own_tags(
    planted: tuple[Localized, FeatureStore, Knowledge],
) -> None:
    found, store, knowledge = planted
    before, after = places(found.labelled()), places(with_all_instances(found, store, knowledge))
    for name, boxes in before.items():
        assert after[name][: len(boxes)] == boxes  # what was found stays first
    for name in ("a", "c", "d", "f"):
        assert after[name] == before[name]
    assert Counter(label for label, _ in after["b"]) == {"mug": 2}  # the one inside another is no further mug
    assert (("mug", THERE) in after["b"]) != (("mug", PART) in after["b"])
    assert Counter(label for label, _ in after["e"]) == {"pen": 2}
    assert ("pen", FAR) in after["e"]


# A run on photos that ship, under names that mean harm

HOSTILE = "dog <img src=x onerror=alert(1)> \"'&amp;\n🐕.jpg"
TAG = "car</h2><script>alert('1')</script>"


class Run(NamedTuple):
    folder: Path
    tags: TagSet
    extractor: TwoGraphs
    found: Localized
    store: FeatureStore


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two tags in five photos, localized and reported."""
    place = tmp_path_factory.mktemp("run")
    photos = []
    for name, source, words in [
        (HOSTILE, "dog-1.jpg", {"dog"}),
        ("dog-2.jpg", "dog-2.jpg", {"dog"}),
        ("both.jpg", "car-3.jpg", {"dog", TAG}),
        ("car.jpg", "car-1.jpg", {TAG}),
        ("none.jpg", "lamp-1.jpg", set()),
    ]:
        path = place / "photos" / name
        path.parent.mkdir(exist_ok=True)
        shutil.copy(DEMO / "photos" / source, path)
        photos.append(TaggedPhoto(name, path, frozenset(words)))
    tags, extractor = TagSet(place / "photos", tuple(photos), "by hand"), open_extractor(threads=1)
    begin_run(place / "run", tags, extractor)
    store, _ = extract_tagged(place / "run", tags, extractor, nothing, skip_bad=False)
    found = localize_photos(tags, store, knowledge_of(extractor), nothing)
    labelled = found.labelled()
    write_boxes(place / "run" / BOXES_NAME, labelled, {"extractor": extractor.fingerprint})
    write_report(place / "run" / "report.html", found, labelled, found.suspicions()[:2])
    finish_run(place / "run", {"error_rate": 0.2})
    return Run(place / "run", tags, extractor, found, store)


def test_the_boxes_are_coco_with_one_box_for_each_photo_and_tag(run: Run) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO(str(run.folder / BOXES_NAME))
    names = {number: entry["file_name"] for number, entry in coco.imgs.items()}
    assert sorted(names.values()) == sorted(photo.name for photo in run.tags.photos)
    found = [(names[each["image_id"]], coco.cats[each["category_id"]]["name"]) for each in coco.anns.values()]
    assert sorted(found) == sorted((photo.name, tag) for photo in run.tags.photos for tag in photo.tags)
    for each in coco.anns.values():
        assert 0 <= each["score"] <= 1
        assert 0 <= each["doubt"] <= 1
        x, y, width, height = each["bbox"]
        image = coco.imgs[each["image_id"]]
        assert min(x, y) >= 0
        assert 0 < width <= image["width"] - x + 0.02
        assert 0 < height <= image["height"] - y + 0.02
        assert each["area"] == pytest.approx(width * height, rel=0.01)
    again = read_boxes(run.folder)
    assert [photo.name for photo in again.photos] == [photo.name for photo in run.tags.photos]
    assert again.folder == run.tags.folder


def attributes(page: str) -> set[str]:
    """Names of all attributes, as a browser would read the page."""
    names: set[str] = set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            names.update(name for name, _ in attrs)

    Reader().feed(page)
    return names


def test_the_report_needs_nothing_else_and_does_no_harm(run: Run) -> None:
    page = (run.folder / "report.html").read_text(encoding="utf-8")
    without_pictures = re.sub(r"data:image/jpeg;base64,[A-Za-z0-9+/=]+", "", page)
    assert not re.search(r"https?:|<link|<iframe|@import|url\(", without_pictures)
    assert without_pictures.count("<script") == 1  # the page's own
    assert not {name for name in attributes(page) if name == "src" or name.startswith("on")}
    assert page.count(f"<h2>{html.escape(TAG)}</h2>") == 1
    assert html.escape(HOSTILE) in page
    for photo in run.tags.photos[:-1]:
        assert html.escape(photo.name) in page


def test_a_second_run_extracts_nothing(run: Run) -> None:
    before = {file: file.stat().st_mtime_ns for file in (run.folder / FEATURES_NAME).glob("s*")}
    done: list[int] = []
    begin_run(run.folder, run.tags, run.extractor)
    store, bad = extract_tagged(run.folder, run.tags, run.extractor, lambda n, _: done.append(n), skip_bad=False)
    assert {file: file.stat().st_mtime_ns for file in (run.folder / FEATURES_NAME).glob("s*")} == before
    assert len(before) == 2
    assert (done, bad, store.image_ids) == ([], (), run.store.image_ids)
    facts = json.loads((run.folder / RUN_NAME).read_text())
    assert (facts["extractor"], facts["error_rate"]) == (run.extractor.fingerprint, 0.2)


def test_a_photo_that_is_another_one_now_is_refused(run: Run, tmp_path: Path) -> None:
    changed = tmp_path / "both.jpg"
    shutil.copy(DEMO / "photos" / "ball-1.jpg", changed)
    photos = tuple(
        TaggedPhoto(one.name, changed if one.name == "both.jpg" else one.path, one.tags) for one in run.tags.photos
    )
    tags = TagSet(run.tags.folder, photos, "by hand")
    with pytest.raises(StoreError, match=r"both\.jpg is not the photo that it was"):
        extract_tagged(run.folder, tags, run.extractor, nothing, skip_bad=True)
    changed.unlink()
    with pytest.raises(PhotoError, match=r"both\.jpg cannot be read"):
        extract_tagged(run.folder, tags, run.extractor, nothing, skip_bad=True)


def test_folders_of_other_jobs_are_refused(run: Run, tmp_path: Path) -> None:
    elsewhere = TagSet(tmp_path, run.tags.photos, "by hand")
    with pytest.raises(RunError, match=f"belongs to a run on {re.escape(str(run.tags.folder))}"):
        begin_run(run.folder, elsewhere, run.extractor)
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear aunt.txt").write_text("Dear aunt,")
    with pytest.raises(RunError, match="letters cannot be used for a run"):
        begin_run(tmp_path / "letters", run.tags, run.extractor)
    for content in ("", "[]", "7", '{"format": "another"}'):
        (tmp_path / "letters" / RUN_NAME).write_text(content)
        with pytest.raises(RunError):
            begin_run(tmp_path / "letters", run.tags, run.extractor)


def test_what_a_crash_leaves_is_no_obstacle(run: Run, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / f".{RUN_NAME}.123.part").write_text("{")
    begin_run(tmp_path / "run", run.tags, run.extractor)
    assert json.loads((tmp_path / "run" / RUN_NAME).read_text())["photos"] == str(run.tags.folder)

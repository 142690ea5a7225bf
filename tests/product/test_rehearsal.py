"""Rehearsing: photos are tagged by chance, and the rest is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from planted_decoys import DECEIVED, DECOY, ONE, OTHERS, PHOTOS, THING, THREE, TWO, Looks, by_hand, photo, stored
from planted_model import planted_model
from tag2box.data import Dataset, DatasetImage
from tag2box.data.formats.coco_results import FOUND
from tag2box.data.labelled import FoundBox
from tag2box.errors import PoolTooSmallError
from tag2box.methods.spread import Spread
from tag2box.model import Model
from tag2box.product.detecting import Detector
from tag2box.product.finding import Found, PhotoBox, find_classes
from tag2box.product.rehearsal import (
    ALARMS,
    AP50,
    CORLOC,
    PRECISION,
    RANKED,
    RECALL,
    STRANGE_ALARMS,
    TOP,
    TRUSTED,
    Rehearsal,
    draw_tagged,
    rehearse,
)
from tag2box.progress import silent
from tag2box.sphere import fit_vmf
from tag2box.store import FeatureStore, StoreHeader, StoreWriter
from tag2box.types import Detections, ProposalBag
from tag2box.worlds import World, plant_background, plant_image

WORLD = World(dimension=32, classes=2, regions=(12, 16), distractors=(0, 1))


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Dataset, FeatureStore, Model]:
    rng = np.random.default_rng(0)
    images = [plant_image(WORLD, str(number), [WORLD.names[number % 2]], rng) for number in range(30)]
    folder = tmp_path_factory.mktemp("planted") / "store"
    with StoreWriter(folder, StoreHeader("x", WORLD.dimension)) as writer:
        for image in images:
            writer.append(image.bag)
    kept = [DatasetImage(Path(i.bag.image_id), 1, 1, i.truth) for i in images]
    background = plant_background(WORLD, 3000)
    fitted = fit_vmf(background)
    spread = Spread(background.mean(axis=0), np.cov(background.T))
    model = planted_model(WORLD.dimension, spread, axes=fitted.kappa, objectness_weight=1.0)
    return Dataset(WORLD.names, tuple(kept)).only(WORLD.names), FeatureStore(folder), model


def test_a_planted_world_is_learned_from_four_photos(planted: tuple[Dataset, FeatureStore, Model]) -> None:
    reported: list[int] = []
    found = rehearse(*planted, Rehearsal(4, 3), lambda done, figures: reported.append(done))
    assert reported == [1, 2, 3]
    assert {CORLOC, TOP, AP50, PRECISION, RECALL, ALARMS} <= set(found.figures)
    corloc = found.figures[CORLOC]
    assert corloc.value > 0.9
    assert corloc.low <= corloc.value <= corloc.high
    assert found.figures[AP50].value > 0.8
    assert set(found.corloc_by_class) == set(WORLD.names)
    assert np.mean(list(found.corloc_by_class.values())) == pytest.approx(corloc.value)


def test_the_photos_that_teach_are_not_asked_for(
    planted: tuple[Dataset, FeatureStore, Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset, store, model = planted
    asked: list[str] = []
    plain = Detector.detect

    def remember(detector: Detector, bag: ProposalBag, min_score: float = FOUND) -> Detections:
        if min_score == 0.0:  # another detector looks for alarms
            asked.append(bag.image_id)
        return plain(detector, bag, min_score)

    monkeypatch.setattr(Detector, "detect", remember)
    rehearse(dataset, store, model, Rehearsal(4, 2), silent)
    assert set(asked[:22]).isdisjoint(draw_tagged(dataset, 4, 0))
    assert len(asked) == 2 * 22


def test_draws_differ_and_have_enough_of_every_class(planted: tuple[Dataset, FeatureStore, Model]) -> None:
    dataset, _, _ = planted
    first, second = draw_tagged(dataset, 5, 0), draw_tagged(dataset, 5, 1)
    assert first == draw_tagged(dataset, 5, 0) != second
    for label in dataset.classes:
        assert sum(label in dataset.tags[name] for name in first) >= 5
    with pytest.raises(PoolTooSmallError, match="is in 15 photos"):
        draw_tagged(dataset, 16, 0)


def values(
    planted: tuple[Dataset, FeatureStore, Model], asked: Rehearsal, strangers: FeatureStore | None = None
) -> dict[str, float]:
    found = rehearse(*planted, asked, silent, strangers)
    return {name: interval.value for name, interval in found.figures.items()}


def test_boxes_that_are_drawn_help(tmp_path: Path) -> None:
    planted = by_hand(tmp_path / "store", DECEIVED)
    alone, helped = (values(planted, Rehearsal(4, 2, drawn)) for drawn in (0, 1))
    assert (alone[CORLOC], alone[AP50] < 0.5, alone[RECALL]) == (0.0, True, 0.0)
    assert (helped[CORLOC], helped[AP50] > 0.9) == (1.0, True)


def test_photos_with_a_drawn_box_are_not_judged(tmp_path: Path) -> None:
    """The things of a class have nothing in common, so that none is found but where somebody pointed."""
    touch = 0.3 * OTHERS.sum(axis=0)
    planted = by_hand(tmp_path / "store", {"one": (ONE + touch, None), "two": (THREE + touch, None)}, THING)
    found = rehearse(*planted, Rehearsal(4, 2, drawn=1), silent)
    assert found.figures[CORLOC].value == 0.0
    assert found.corloc_by_class == {"one": 0.0, "two": 0.0}
    assert found.figures[TOP].value == 1.0  # objectness alone would have found them
    everywhere = rehearse(*planted, Rehearsal(4, 2, drawn=4), silent)
    assert not {CORLOC, TOP} & set(everywhere.figures)
    assert everywhere.corloc_by_class == {}
    assert AP50 in everywhere.figures


def test_who_draws_a_box_points_at_the_region_that_fits_it_best(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pointed: list[dict[str, dict[str, object]]] = []

    def remember(*args: Any, **kwargs: Any) -> Found:
        pointed.append(kwargs.get("regions", {}))
        return find_classes(*args, **kwargs)

    monkeypatch.setattr("tag2box.product.rehearsal.find_classes", remember)
    dataset, store, model = by_hand(tmp_path / "store", DECEIVED)
    rehearse(dataset, store, model, Rehearsal(4, 1, drawn=2), silent)
    tagged = draw_tagged(dataset, 4, 0)
    expected = {label: [name for name in tagged if name.startswith(label)][:2] for label in dataset.classes}
    assert pointed[0] == {label: dict.fromkeys(names, 2) for label, names in expected.items()}
    assert pointed[1] == {}  # the detector of half the classes is taught by tags alone


@pytest.mark.parametrize(("looks", "share"), [(DECEIVED, 0.0), ({"one": (ONE, TWO), "two": (ONE, TWO)}, 1.0)])
def test_an_alarm_is_something_that_was_not_taught_and_looks_like_it(
    looks: Looks, share: float, tmp_path: Path
) -> None:
    """Only the first of two classes is taught."""
    assert values(by_hand(tmp_path / "store", looks), Rehearsal(4, 2))[ALARMS] == share


def test_one_class_alone_has_no_others_to_be_alarmed_by(tmp_path: Path) -> None:
    assert ALARMS not in values(by_hand(tmp_path / "store", {"one": (ONE, TWO)}), Rehearsal(4, 2))


def test_strangers_that_look_like_a_class_are_counted(tmp_path: Path) -> None:
    bags = [photo("like one", ONE, None, DECOY), *(photo(f"strange {n}", None, None, DECOY) for n in range(3))]
    strangers, planted = stored(tmp_path / "strangers", bags), by_hand(tmp_path / "store", DECEIVED)
    assert values(planted, Rehearsal(4, 2), strangers)[STRANGE_ALARMS] == 0.25
    assert STRANGE_ALARMS not in values(planted, Rehearsal(4, 2))


def test_if_all_photos_are_tagged_there_is_nothing_to_detect_in(tmp_path: Path) -> None:
    found = values(by_hand(tmp_path / "store", DECEIVED), Rehearsal(PHOTOS, 2))
    assert set(found) == {CORLOC, TOP, ALARMS}  # and every box needs a look


def test_the_worth_of_doubt_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight boxes, two of them wrong: one is the most doubtful, the other is doubted less than two that are right."""
    dataset, store, model = by_hand(tmp_path / "store", DECEIVED)
    doubts = dict(zip(draw_tagged(dataset, 4, 0), (0.99, 0.5, 0.2, 0.1, 0.0, 0.0, 0.0, 0.0), strict=True))
    wrong = {name for name, doubt in doubts.items() if doubt in {0.99, 0.1}}

    def by_doubt(_: Found) -> list[PhotoBox]:
        places = {True: (DECOY[0], DECOY[1], DECOY[2], DECOY[3]), False: (THING[0], THING[1], THING[2], THING[3])}
        boxes = {n: FoundBox(n.split("-")[0], places[n in wrong], 1.0, d, 0.0) for n, d in doubts.items()}
        return [PhotoBox(name, box) for name, box in boxes.items()]

    monkeypatch.setattr(Found, "by_doubt", by_doubt)
    found = values((dataset, store, model), Rehearsal(4, 1))
    assert found[TRUSTED] == pytest.approx(6 / 7)  # the mean doubt of all but the first is below one fifth
    assert found[RANKED] == pytest.approx((6 + 4) / 12)


def test_precision_and_recall_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four photos: found; found, and something wrong too; found too faintly; and taken for the other class."""
    dataset, store, model = by_hand(tmp_path / "store", DECEIVED)
    tagged = draw_tagged(dataset, 4, 0)
    rest = [image.image_id for image in dataset.images if image.image_id not in tagged]
    assert len(rest) == 4
    own = {name: name.split("-")[0] for name in rest}
    other = {"one": "two", "two": "one"}
    first, second, third, fourth = rest
    answers = {
        first: ([THING], [0.5], [own[first]]),
        second: ([THING, DECOY], [0.9, 0.7], [own[second]] * 2),
        third: ([THING, DECOY], [0.49, 0.3], [own[third]] * 2),
        fourth: ([THING], [0.8], [other[own[fourth]]]),
    }

    def detect(_: Detector, bag: ProposalBag, min_score: float = FOUND) -> Detections:
        return Detections.ranked(*answers.get(bag.image_id, ([], [], [])))

    monkeypatch.setattr(Detector, "detect", detect)
    found = values((dataset, store, model), Rehearsal(4, 1))
    assert found[PRECISION] == pytest.approx(2 / 4)
    assert found[RECALL] == pytest.approx(2 / 4)
    answers.clear()
    found = values((dataset, store, model), Rehearsal(4, 1))
    assert (found[PRECISION], found[RECALL], found[ALARMS]) == (0.0, 0.0, 0.0)

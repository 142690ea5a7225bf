"""From tagged photos to boxes, without a disk: a box for each tag, further things, and what a person knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planted_model import ANY_LIKENESS, planted_model
from samples import random_units, unit
from tag2box.data import FoundBox
from tag2box.data.tags import shared_tags
from tag2box.errors import TagsError
from tag2box.methods.calibration import Calibration, Judge, Threshold
from tag2box.methods.spread import Spread
from tag2box.product import learning
from tag2box.product.album import MemoryBags
from tag2box.product.events import Advanced, Began, Ended, Event, Learned, Moved, Stopped
from tag2box.product.finding import Found, PhotoBox, find_classes, further_things, need_a_look
from tag2box.store import FeatureStore, StoreHeader, StoreWriter
from tag2box.types import ProposalBag

# Which boxes need a look


def doubtful(doubts: list[float]) -> list[PhotoBox]:
    return [PhotoBox(f"{n}.jpg", FoundBox("mug", (0, 0, 1, 1), 1.0, doubt)) for n, doubt in enumerate(doubts)]


def test_what_needs_a_look_by_hand() -> None:
    given_ones = doubtful([0.9, 0.0, 0.3, 0.1])
    rates = (0.0, 0.05, 0.14, 0.32, 0.33, 1)
    shown = {rate: [each.box.doubt for each in need_a_look(given_ones, rate)] for rate in rates}
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
    everything = doubtful(doubts)
    low, high = sorted((one, other))
    shown = need_a_look(everything, low)
    rest = [each.box.doubt for each in everything if each not in shown]
    assert np.mean(rest or [0.0]) <= low + 1e-12
    assert [each.box.doubt for each in shown] == sorted((each.box.doubt for each in shown), reverse=True)
    assert min((each.box.doubt for each in shown), default=1.0) >= max(rest, default=0.0)
    if shown:  # one more would be one too many
        assert np.mean([*rest, shown[-1].box.doubt]) > low - 1e-12
    assert {each.photo for each in need_a_look(everything, high)} <= {each.photo for each in shown}


def test_tags_that_can_be_learned_and_those_that_cannot() -> None:
    tags: dict[str, set[str]] = {"a": {"mug", "pen"}, "b": {"mug"}, "c": set(), "d": {"cup"}}
    assert shared_tags(tags) == ({"mug": ["a", "b"]}, ["cup", "pen"])
    assert shared_tags(tags, one_is_enough=["pen"]) == ({"mug": ["a", "b"], "pen": ["a"]}, ["cup"])
    with pytest.raises(TagsError, match="two photos that can be used; with one photo: cup, mug, pen"):
        shared_tags({"a": tags["a"], "d": tags["d"]})
    with pytest.raises(TagsError, match=r"no tag has two photos that can be used\."):
        shared_tags({})


# Planted photos: two kinds of thing, at known places, on a floor of other regions

D = 64
HERE, THERE, FAR = ([10, 10, 40, 40], [60, 10, 90, 40], [10, 60, 40, 90])
PART = [60, 10, 80, 30]
"""Lies in THERE, and overlaps it by less than detections of one class are suppressed for."""
KINDS = {"mug": 0, "pen": 1}
FURTHER = Judge((-1.0, 1.0), 0.5)
CALIBRATION = Calibration(Judge((0.0,) * 5, -2.0), Judge((0.0,) * 2, -2.0), Threshold(0.5, 0.0), ANY_LIKENESS, FURTHER)
MODEL = planted_model(D, Spread(np.zeros(D), np.eye(D) / D), axes=30.0, calibration=CALIBRATION)
TAGS: dict[str, set[str]] = {"a": {"mug"}, "b": {"mug"}, "c": {"mug", "pen"}, "d": {"pen"}, "e": {"pen"}, "f": set()}


def planted_bag(
    name: str, things: Mapping[str, list[list[int]]], rng: np.random.Generator, strength: float = 8.0
) -> ProposalBag:
    """A photo of 100 by 100 pixels; each kind of thing is an axis of the features."""
    axes = np.eye(D)[[KINDS[label] for label in things]]
    boxes, rows = [[0, 0, 100, 100]], [unit(axes.sum(axis=0) + random_units(rng, 1, D)[0])]  # a little of everything
    for label, places in things.items():
        boxes += places
        rows += [unit(strength * np.eye(D)[KINDS[label]] + rng.standard_normal(D) / 10) for _ in places]
    for _ in range(5):
        x, y = rng.integers(0, 70, 2).tolist()
        boxes.append([x, y, x + 9, y + 9])
        rows.append(random_units(rng, 1, D)[0])
    return ProposalBag.from_raw(name, boxes, np.stack(rows), np.full(len(rows), 0.5))


def planted_bags(**things: Mapping[str, list[list[int]]]) -> MemoryBags:
    rng = np.random.default_rng(0)
    return MemoryBags({name: planted_bag(name, content, rng) for name, content in things.items()})


BAGS = planted_bags(
    a={"mug": [HERE]},
    b={"mug": [HERE, [14, 14, 40, 40], THERE, PART]},
    c={"mug": [HERE], "pen": [THERE]},
    d={"pen": [THERE]},
    e={"pen": [THERE, [62, 12, 92, 42], FAR], "mug": [HERE]},  # and nobody tagged the mug
    f={},
)


@pytest.fixture(scope="module")
def found() -> Found:
    return find_classes(TAGS, BAGS, MODEL)


def places(boxes: Mapping[str, list[FoundBox]]) -> dict[str, list[tuple[str, list[int]]]]:
    return {photo: [(box.label, [round(edge) for edge in box.box]) for box in some] for photo, some in boxes.items()}


def test_one_box_for_each_tag_of_each_photo(found: Found) -> None:
    boxes = places(found.boxes())
    assert {name: [label for label, _ in some] for name, some in boxes.items()} == {
        "a": ["mug"], "b": ["mug"], "c": ["mug", "pen"], "d": ["pen"], "e": ["pen"], "f": []
    }  # fmt: skip
    assert boxes["a"] == [("mug", HERE)]
    assert boxes["c"] == [("mug", HERE), ("pen", THERE)]
    assert found.classes == ("mug", "pen")


def test_features_that_stay_on_disk_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with StoreWriter(tmp_path, StoreHeader(MODEL.fingerprint, D)) as writer:
        for photo in TAGS:
            writer.append(BAGS.bag(photo))
    store = FeatureStore(tmp_path)
    kept = find_classes(TAGS, store, MODEL)
    asked, read = list[str](), FeatureStore.lean_bag

    def counted(self: FeatureStore, photo: str) -> ProposalBag:
        asked.append(photo)
        return read(self, photo)

    monkeypatch.setattr(FeatureStore, "lean_bag", counted)
    monkeypatch.setattr(learning, "MANY", 1)
    lean = find_classes(TAGS, store, MODEL)
    assert asked
    for one, other in zip(kept.learned, lean.learned, strict=True):
        assert one.boxes == other.boxes
        assert (one.threshold, one.least_likeness) == (other.threshold, other.least_likeness)
        np.testing.assert_array_equal(one.direction, other.direction)


def test_the_film_begins_at_the_start_and_ends_at_the_box(found: Found) -> None:
    mug = found.learned[0]
    assert mug.converged
    assert mug.film.shape == (len(mug.likelihoods), len(mug.photos), 4)
    assert [tuple(box) for box in mug.film[-1].tolist()] == [box.box for box in mug.boxes]
    assert (np.diff(mug.likelihoods) >= -1e-4).all()


def test_photos_without_regions_and_tags_of_one_photo_are_left_out() -> None:
    found = find_classes(TAGS | {"gone": {"mug"}, "f": {"cup"}}, BAGS, MODEL)
    assert "gone" not in found.tags
    assert found.left_out == ("cup",)
    assert found.learned[0].photos == ("a", "b", "c")


def test_a_listener_hears_everything_and_can_stop_it() -> None:
    heard: list[Event] = []
    find_classes(TAGS, BAGS, MODEL, heard.append)
    assert [type(event) for event in heard if not isinstance(event, Moved)] == [
        Began, Learned, Advanced, Learned, Advanced, Ended
    ]  # fmt: skip
    moves = [event for event in heard if isinstance(event, Moved) and event.label == "mug"]
    assert [move.step for move in moves] == list(range(len(moves)))

    def stop(event: Event) -> None:
        if isinstance(event, Advanced):
            raise Stopped

    with pytest.raises(Stopped):
        find_classes(TAGS, BAGS, MODEL, stop)


# Further things


def test_further_things_are_added_once_and_only_of_the_photos_own_tags(found: Found) -> None:
    before, after = places(found.boxes()), places(further_things(found, BAGS, MODEL))
    for name, boxes in before.items():
        assert after[name][: len(boxes)] == boxes  # what was found stays first
    for name in ("a", "c", "d", "f"):
        assert after[name] == before[name]
    assert Counter(label for label, _ in after["b"]) == {"mug": 2}  # the one inside another is no further mug
    assert (("mug", THERE) in after["b"]) != (("mug", PART) in after["b"])
    assert Counter(label for label, _ in after["e"]) == {"pen": 2}
    assert ("pen", FAR) in after["e"]


def test_what_nobody_tagged_takes_nothing_away() -> None:
    """In photo x a pen lies where the untagged mug is even likelier: it is a pen all the same."""
    rng = np.random.default_rng(1)
    bags = {name: BAGS.bag(name) for name in "abcd"}
    both = planted_bag("x", {"pen": [THERE, FAR]}, rng)
    features = both.features.copy()
    features[2] = unit((np.eye(D)[0] * 1.05 + np.eye(D)[1]).astype(np.float64))  # at FAR: more of a mug than of a pen
    bags["x"] = ProposalBag("x", both.boxes, features, both.objectness, both.norms)
    tags = {name: TAGS[name] for name in "abcd"} | {"x": {"pen"}}
    found = find_classes(tags, MemoryBags(bags), MODEL)
    assert ("pen", FAR) in places(further_things(found, MemoryBags(bags), MODEL))["x"]


def test_a_second_thing_inside_a_thing_of_another_class_is_kept() -> None:
    """Two dogs on a sofa: the second one lies in the sofa's box."""
    sofa, dogs = [5, 5, 95, 95], [[10, 20, 40, 50], [60, 20, 90, 50]]
    bags = planted_bags(
        a={"pen": [sofa]}, b={"mug": [dogs[0]]}, c={"mug": [dogs[0]], "pen": [sofa]}, x={"pen": [sofa], "mug": dogs}
    )
    tags = {"a": {"pen"}, "b": {"mug"}, "c": {"mug", "pen"}, "x": {"mug", "pen"}}
    after = places(further_things(find_classes(tags, bags, MODEL), bags, MODEL))["x"]
    assert [box for label, box in after if label == "mug"] == dogs or [
        box for label, box in after if label == "mug"
    ] == dogs[::-1]


def test_a_further_thing_is_doubted_as_was_learned_and_never_surer_than_the_photos_own(found: Found) -> None:
    judged = 0
    for boxes in further_things(found, BAGS, MODEL).values():
        own: dict[str, FoundBox] = {}
        for box in boxes:
            first = own.setdefault(box.label, box)
            if box is not first:
                odds = [np.log(chance / (1 - chance)) for chance in (box.score, first.doubt)]
                learned = 1 / (1 + np.exp(odds[0] - odds[1] - 0.5))  # by FURTHER
                assert box.doubt == pytest.approx(max(learned, first.doubt))
                judged += 1
    assert judged == 2


# What a person knows


def test_a_region_that_was_pointed_at_is_believed_and_moves_the_others() -> None:
    """All photos hold both kinds of thing, the pen more clearly; one click on the mug tells them apart."""
    rng = np.random.default_rng(3)
    bags = {}
    for name in "abcde":
        pens, mugs = (planted_bag(name, {kind: [at]}, rng, 30.0) for kind, at in (("pen", THERE), ("mug", HERE)))
        bags[name] = pens.with_last_row_of(ProposalBag(name, *(
            array[:2] for array in (mugs.boxes, mugs.features, mugs.objectness, mugs.norms)
        )))  # fmt: skip
    source, tags = MemoryBags(bags), {name: {"thing"} for name in "abcde"}
    alone = find_classes(tags, source, MODEL)
    wrong = HERE if places(alone.boxes())["a"][0][1] == THERE else THERE
    row = int(np.flatnonzero((bags["a"].boxes == np.array(wrong, dtype=np.float32)).all(axis=1))[0])
    told = find_classes(tags, source, MODEL, regions={"thing": {"a": row}}, before=alone)
    assert [place for ((_, place),) in places(told.boxes()).values()] == [wrong] * 5
    assert told.learned[0].boxes[0] == FoundBox("thing", tuple(map(float, wrong)), 1.0, 0.0, 0.0)  # type: ignore[arg-type]
    assert all(box.doubt > 0 for box in told.learned[0].boxes[1:])


def test_a_drawn_box_is_a_region_of_its_photo_and_class_alone() -> None:
    drawn = planted_bag("a", {"mug": [[11, 12, 43, 44]]}, np.random.default_rng(5))
    whole_and_drawn = ProposalBag(
        "a", *(array[:2] for array in (drawn.boxes, drawn.features, drawn.objectness, drawn.norms))
    )
    found = find_classes(TAGS, BAGS, MODEL, regions={"mug": {"a": whole_and_drawn}})
    assert places(found.boxes())["a"] == [("mug", [11, 12, 43, 44])]
    assert places(found.boxes())["b"] == [("mug", HERE)]


def test_one_photo_is_enough_if_somebody_says_where() -> None:
    tags = {"a": {"mug"}, "d": {"pen"}}
    with pytest.raises(TagsError):
        find_classes(tags, BAGS, MODEL)
    found = find_classes(tags, BAGS, MODEL, regions={"mug": {"a": 1}})
    assert found.classes == ("mug",)
    assert found.left_out == ("pen",)
    (mug,) = found.learned
    assert mug.threshold == CALIBRATION.score.floor  # there is nobody to ask how a left-out photo scores
    np.testing.assert_allclose(mug.direction, BAGS.bag("a").features[1], atol=1e-6)


def test_only_the_class_that_changed_is_learned_again(found: Found) -> None:
    heard: list[str] = []
    again = find_classes(
        TAGS, BAGS, MODEL, lambda event: heard.append(event.label) if isinstance(event, Learned) else None,
        regions={"pen": {"d": 1}}, before=found,
    )  # fmt: skip
    assert heard == ["pen"]
    assert again.learned[0] is found.learned[0]

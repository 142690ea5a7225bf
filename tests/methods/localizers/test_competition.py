"""One thing, one name: places are settled as brute force would, and only those learn again that have to move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import random_bag
from tag2box.arrays import Array
from tag2box.boxes import box_overlaps
from tag2box.methods.localizers import NO_CLAMPS, Candidates, Clamps, learn_apart, taken_by_others
from tag2box.methods.localizers.competition import settle
from tag2box.types import Localization, ProposalBag

BOXES = [[0, 0, 10, 10], [0, 0, 10, 6], [4, 0, 14, 10], [20, 0, 30, 10], [22, 2, 32, 12], [0, 20, 40, 40]]
"""Of which some are in each other's place and some are not."""

weights_of_boxes = st.lists(st.floats(1e-9, 1.0), min_size=len(BOXES), max_size=len(BOXES))


def bag_of(boxes: Sequence[Sequence[float]] = BOXES, image_id: str = "photo") -> ProposalBag:
    """A photo with these regions behind the whole."""
    rows = [[0, 0, 100, 100], *boxes]
    return ProposalBag.from_raw(image_id, rows, np.ones((len(rows), 2)), np.full(len(rows), 0.5))


def candidates(weights: Sequence[float], most: int = len(BOXES)) -> Candidates:
    """The likeliest boxes by weights (6,)."""
    order = sorted(range(len(BOXES)), key=lambda row: -weights[row])[:most]
    return Candidates(np.array(BOXES, dtype=np.float32)[order], np.log([weights[row] for row in order]))


# Settling one photo


def apart(boxes: Sequence[Array]) -> bool:
    return all(box_overlaps(one[None], other[None])[0, 0] < 0.3 for i, one in enumerate(boxes) for other in boxes[:i])


def likeliest_of_all(classes: Sequence[Candidates]) -> float | None:
    """(6.7) over every combination; None where none keeps things apart."""
    totals = [
        sum(float(one.log_weights[place]) for one, place in zip(classes, places, strict=True))
        for places in product(*(range(len(one.boxes)) for one in classes))
        if apart([one.boxes[place] for one, place in zip(classes, places, strict=True)])
    ]
    return max(totals, default=None)


@given(st.lists(st.tuples(weights_of_boxes, st.integers(1, len(BOXES))), min_size=1, max_size=3))
def test_places_are_those_that_brute_force_finds(asked: list[tuple[list[float], int]]) -> None:
    classes = [candidates(weights, most) for weights, most in asked]
    places, best = settle(classes), likeliest_of_all(classes)
    assert len(places) == len(classes)
    if best is None:
        assert places == [0] * len(classes)  # nobody moves where nobody can
        return
    chosen = list(zip(classes, places, strict=True))
    assert apart([one.boxes[place] for one, place in chosen])
    assert sum(float(one.log_weights[place]) for one, place in chosen) == pytest.approx(best, abs=0.011)


def test_who_is_less_sure_moves() -> None:
    sure, unsure = candidates([0.98, 1e-9, 1e-9, 0.02, 1e-9, 1e-9]), candidates([0.6, 1e-9, 1e-9, 0.4, 1e-9, 1e-9])
    assert settle([sure, unsure]) == [0, 1]
    assert settle([unsure, sure]) == [1, 0]
    assert settle([]) == []


def test_of_equally_likely_places_those_are_taken_that_touch_least() -> None:
    """A quarter, a corner of it, and another quarter, all as likely for both."""
    bag = bag_of([[0, 0, 40, 40], [0, 0, 20, 20], [50, 50, 90, 90]])
    even = Candidates.of(bag, np.array([0.0, 1 / 3, 1 / 3, 1 / 3]))
    assert settle([even, even]) == [0, 2]
    halves = bag_of([[0, 0, 40, 40], [0, 0, 20, 20], [20, 20, 40, 40], [50, 50, 90, 90]])
    unsure, sure = Candidates.of(halves, np.full(5, 0.2)), Candidates.of(halves, np.array([0.0, 0.4, 0.3, 0.3, 0.0]))
    assert settle([unsure, sure])[1] == 0  # who need not move stays


def test_things_may_touch_a_little() -> None:
    """0.3 of both together is too much, and a little less is not."""
    bag = bag_of([[0, 0, 10, 10], [0, 0, 10, 3], [0, 0, 10, 2.99], [50, 50, 60, 60]])
    sure, moves = Candidates.of(bag, np.eye(5)[1]), Candidates.of(bag, np.array([0.0, 0.6, 0.0, 0.0, 0.4]))
    found = taken_by_others({"photo": (bag, {"sure": sure.likeliest(), "moves": moves})})
    assert found["moves"]["photo"].tolist() == [False, True, True, False, False]


@given(weights_of_boxes)
def test_the_likeliest_come_first_and_nothing_is_quite_impossible(weights: list[float]) -> None:
    bag = bag_of()
    given_ones = np.array([0.0, *weights])
    found = Candidates.of(bag, given_ones)
    assert (np.diff(found.log_weights) <= 0).all()
    assert found.boxes[-1].tolist() == [0, 0, 100, 100]
    np.testing.assert_allclose(found.log_weights[-1], np.log(1e-12))
    by_box = {tuple(box): float(weight) for box, weight in zip(found.boxes.tolist(), found.log_weights, strict=True)}
    for box, weight in zip(BOXES, weights, strict=True):
        assert by_box[tuple(map(float, box))] == pytest.approx(np.log(weight))


def test_no_more_than_forty_candidates_and_equal_ones_by_row() -> None:
    bag = random_bag(np.random.default_rng(0), 60)
    even = Candidates.of(bag, np.full(60, 1 / 60))
    np.testing.assert_array_equal(even.boxes, bag.boxes[:40])
    assert Candidates.of(bag_of(), np.ones(7)).boxes.shape == (7, 4)


# Who has to move, and from where


def test_where_nothing_meets_nothing_moves() -> None:
    here, there = candidates([0.9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9], 1), candidates([1e-9, 1e-9, 1e-9, 0.9, 1e-9, 1e-9], 1)
    assert taken_by_others({1: (bag_of(), {"cat": here, "dog": there}), 2: (bag_of(), {"cat": here})}) == {}
    assert taken_by_others({1: (bag_of(), {})}) == {}
    assert taken_by_others({}) == {}


def test_rows_that_overlap_where_the_others_are_now_are_taken() -> None:
    sure, unsure = candidates([0.98, 1e-9, 1e-9, 0.02, 1e-9, 1e-9]), candidates([0.6, 1e-9, 1e-9, 0.4, 1e-9, 1e-9])
    far = candidates([1e-9] * 5 + [1.0])
    found = taken_by_others({"a": (bag_of(), {"sure": sure, "unsure": unsure, "far": far})})
    assert {label: list(rows) for label, rows in found.items()} == {"unsure": ["a"]}
    # the whole photo is free; the first three boxes are where the sure one is, the last is where the far one is
    assert found["unsure"]["a"].tolist() == [False, True, True, True, False, False, True]


def test_a_class_that_moves_in_one_photo_keeps_away_from_the_others_in_all() -> None:
    sure, unsure = candidates([0.98, 1e-9, 1e-9, 0.02, 1e-9, 1e-9]), candidates([0.6, 1e-9, 1e-9, 0.4, 1e-9, 1e-9])
    there, far = candidates([1e-9, 1e-9, 1e-9, 1.0, 1e-9, 1e-9]), candidates([1e-9] * 5 + [1.0])
    met, calm = (bag_of(), {"sure": sure, "unsure": unsure}), (bag_of(), {"sure": far, "unsure": there})
    found = taken_by_others({"met": met, "calm": calm, "alone": (bag_of(), {"unsure": unsure})})
    assert {label: list(rows) for label, rows in found.items()} == {"unsure": ["met", "calm"]}
    assert found["unsure"]["calm"].tolist() == [False] * 6 + [True]


def test_classes_that_move_both_never_end_in_the_same_place() -> None:
    first, second = candidates([0.5, 1e-9, 1e-9, 0.4, 1e-9, 0.1]), candidates([0.5, 1e-9, 1e-9, 0.1, 1e-9, 0.4])
    third = candidates([1.0, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9], 1)
    found = taken_by_others({"a": (bag_of(), {"first": first, "second": second, "third": third})})
    assert set(found) == {"first", "second"}
    assert (found["first"]["a"] | found["second"]["a"]).all()


def test_classes_that_have_no_room_stay() -> None:
    one = candidates([1.0, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9], 1)
    assert taken_by_others({1: (bag_of(), {"cat": one, "dog": one})}) == {}


# Learning several classes


@dataclass(frozen=True)
class Answer:
    """What was found, and what it was learned from."""

    localization: Localization
    positives: tuple[str, ...]
    negatives: tuple[str, ...]
    clamps: Clamps


@dataclass
class Learner:
    """Finds what it is told, where that is free; knows a class by its first photo."""

    wanted: dict[str, list[float]]
    answers: list[Answer] = field(default_factory=list)

    def learn(
        self,
        positives: Sequence[ProposalBag],
        negatives: Sequence[ProposalBag],
        rng: np.random.Generator,
        clamps: Clamps = NO_CLAMPS,
    ) -> Answer:
        told = np.array([1e-9, *self.wanted[positives[0].image_id]])
        weights = [np.exp(np.log(told) + clamps.allowed(i, len(bag))) for i, bag in enumerate(positives)]
        found = Localization.from_weights([each / each.sum() for each in weights], weights)
        shown, others = (tuple(bag.image_id for bag in bags) for bags in (positives, negatives))
        self.answers.append(Answer(found, shown, others, clamps))
        return self.answers[-1]


PHOTOS = [bag_of(image_id=name) for name in "abcd"]
TAGS = [{"cat"}, {"cat", "dog"}, {"dog", "cat"}, {"dog"}]


def test_classes_that_do_not_meet_are_learned_once_and_alone() -> None:
    learner = Learner({"a": [1, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9], "b": [1e-9, 1e-9, 1e-9, 1, 1e-9, 1e-9]})
    found = learn_apart(learner, PHOTOS, TAGS, ["cat", "dog"], np.random.default_rng(0))
    assert [(one.positives, one.negatives) for one in learner.answers] == [
        (("a", "b", "c"), ("d",)),
        (("b", "c", "d"), ("a",)),
    ]
    assert found == {"cat": learner.answers[0], "dog": learner.answers[1]}


def test_only_the_class_that_has_to_move_is_learned_again_and_only_there() -> None:
    """Both are at the first box; the dog is less sure of it, and has a second one to go to."""
    learner = Learner({"a": [1, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9], "b": [0.6, 1e-9, 1e-9, 0.4, 1e-9, 1e-9]})
    found = learn_apart(learner, PHOTOS, TAGS, ["cat", "dog"], np.random.default_rng(0))
    assert len(learner.answers) == 3
    assert found["cat"] is learner.answers[0]
    dog = found["dog"]
    assert (dog.positives, dog.negatives) == (("b", "c", "d"), ("a",))
    assert dog.localization.rows.tolist() == [4, 4, 1]  # in its own photo it stays where it was
    assert list(dog.clamps.taken) == [0, 1]
    for rows in dog.clamps.taken.values():
        assert np.flatnonzero(rows).tolist() == [1, 2, 3]
    assert not dog.clamps.known
    assert not dog.clamps.absent


def test_a_tag_that_is_not_asked_for_takes_no_place() -> None:
    learner = Learner({"a": [1, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9]})
    found = learn_apart(learner, PHOTOS, TAGS, ["cat"], np.random.default_rng(0))
    assert list(found) == ["cat"]
    assert len(learner.answers) == 1

"""Truth, Localization, Detections and Episode."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tag2box.errors import NotFiniteError, ShapeError
from tag2box.types import ABSENT, Detections, Episode, Localization, TaggedImage, Truth, require_tag_set


def test_truth_gives_the_objects_of_a_class() -> None:
    boxes = np.array([[0, 0, 1, 1], [0, 0, 2, 2], [0, 0, 3, 3], [0, 0, 4, 4]], np.float32)
    ignore, crowd = np.array([False, False, True, False]), np.array([False, False, False, True])
    cats = Truth("a", boxes, np.array(["cat", "dog", "cat", "cat"]), ignore, crowd).of_class("cat")
    assert cats.boxes.tolist() == [[0, 0, 1, 1], [0, 0, 3, 3], [0, 0, 4, 4]]
    assert cats.ignore.tolist() == [False, True, True]  # a crowd is always ignored
    assert cats.crowd.tolist() == [False, False, True]
    assert cats.of_class("cow").boxes.shape == (0, 4)


def test_truth_checks_lengths_and_takes_an_empty_image() -> None:
    with pytest.raises(ShapeError, match="labels of image 'a'"):
        Truth.plain("a", np.zeros((1, 4)), ["x", "y"])
    with pytest.raises(ShapeError, match=r"true boxes of image 'a' has shape \(4, 2\)"):
        Truth.plain("a", np.zeros((4, 2)), ["x", "y"])
    assert len(Truth.plain("a", [], [])) == 0


def test_a_localization_takes_the_heaviest_row_and_the_first_of_equals() -> None:
    found = Localization.from_weights(
        [np.array([0.1, 0.6, 0.3]), np.array([0.5, 0.5]), np.zeros(2)],
        [np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0]), np.array([6.0, 7.0])],
    )
    assert found.rows.tolist() == [1, 0, ABSENT]
    assert found.scores.tolist() == [2.0, 4.0, -np.inf]
    assert found.doubt.tolist() == pytest.approx([0.4, 0.5, 0.0])


def test_a_localization_needs_one_row_for_each_image() -> None:
    with pytest.raises(ShapeError, match="chosen rows"):
        Localization(np.array([0]), np.array([0.0]), (np.ones(1), np.ones(1)))
    for row in (2, -2):
        with pytest.raises(ShapeError, match=f"row {row} was chosen in image 0, which has 2 regions"):
            Localization(np.array([row]), np.array([0.0]), (np.array([0.5, 0.5]),))
    with pytest.raises(NotFiniteError, match="weights of image 0"):
        Localization(np.array([0]), np.array([0.0]), (np.array([np.nan, 0.5]),))


def test_detections_are_ranked_with_ties_by_row() -> None:
    boxes = [[0, 0, n, n] for n in range(1, 5)]
    found = Detections.ranked(boxes, [1.0, 3.0, 1.0, 3.0], ["a", "b", "c", "d"])
    assert found.labels.tolist() == ["b", "d", "a", "c"]
    assert next(iter(found)) == ("b", 3.0, (0.0, 0.0, 2.0, 2.0))
    assert found.of_class("c").scores.tolist() == [1.0]
    assert len(Detections.joined([])) == 0
    assert Detections.joined([found.of_class("a"), found.of_class("d")]).labels.tolist() == ["d", "a"]


def test_detections_refuse_rising_scores_nan_and_wrong_lengths() -> None:
    box = np.zeros((2, 4), np.float32)
    with pytest.raises(ShapeError, match=r"Detections\.ranked"):
        Detections(box, np.array([1.0, 2.0]), np.array(["a", "b"]))
    with pytest.raises(NotFiniteError):
        Detections.ranked(box, [1.0, np.nan], ["a", "b"])
    with pytest.raises(ShapeError, match="labels"):
        Detections(box, np.array([2.0, 1.0]), np.array(["a"]))
    with pytest.raises(ShapeError, match="labels"):
        Detections.ranked(box, [1.0, 2.0], ["a"])
    with pytest.raises(ShapeError, match=r"detected boxes has shape \(4, 2\)"):
        Detections(np.zeros((4, 2), np.float32), np.zeros(2), np.array(["a", "b"]))


def test_an_episode_lists_the_images_of_a_class() -> None:
    support = (TaggedImage("1", ("cat",)), TaggedImage("2", ("dog", "cat")), TaggedImage("3", ("dog",)))
    episode = Episode(0, 0, ("cat", "dog"), support, (), ("9",))
    assert episode.positives("cat") == ("1", "2")
    assert episode.positives("dog") == ("2", "3")


scores_of_images = st.lists(st.lists(st.integers(-3, 3), min_size=1, max_size=6), max_size=5)


@given(scores_of_images)
def test_the_best_of_each_image_is_chosen_without_any_doubt(scores: list[list[int]]) -> None:
    found = Localization.of_best([np.array(image, dtype=np.float64) for image in scores])
    assert found.rows.tolist() == [image.index(max(image)) for image in scores]
    assert found.scores.tolist() == [max(image) for image in scores]
    assert found.doubt.tolist() == [0.0] * len(scores)


def test_a_localization_and_a_truth_do_not_change_with_what_they_were_made_of() -> None:
    rows, scores, weights = np.array([1]), np.array([2.0]), np.array([0.25, 0.75])
    found = Localization(rows, scores, (weights,))
    boxes, labels, flags = np.ones((1, 4), np.float32), np.array(["cat"]), np.array([False])
    truth = Truth("a", boxes, labels, flags, flags)
    rows[0], scores[0], weights[:], boxes[:], labels[0], flags[0] = 0, 9.0, 0.5, 7.0, "dog", True
    assert (found.rows.tolist(), found.scores.tolist(), found.doubt.tolist()) == ([1], [2.0], [0.25])
    assert (truth.boxes.tolist(), truth.labels.tolist(), truth.ignore.tolist()) == ([[1.0] * 4], ["cat"], [False])
    with pytest.raises(ValueError, match="read-only"):
        found.weights[0][0] = 1.0


def test_weights_and_scores_of_different_numbers_of_images_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        Localization.from_weights([np.ones(2), np.ones(2)], [np.ones(2)])


def test_a_class_that_nobody_shows_has_no_positives() -> None:
    episode = Episode(0, 0, ("cat",), (TaggedImage("1", ("cats",)), TaggedImage("2", ())), ("3",), ())
    assert episode.positives("cat") == ()  # a tag is the whole word


def test_a_text_is_not_a_set_of_tags() -> None:
    with pytest.raises(ShapeError, match=r"tags of image 'a' are the text 'cat'[\s\S]*pass \['cat'\]"):
        require_tag_set("a", "cat")
    for tags in ((), ["cat"], {"cat", "dog"}, frozenset({"cat"})):
        require_tag_set("a", tags)

"""Which location answers for what, which regions are sampled, and the losses."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tag2box.extract.proposals import STRIDES
from tag2box.training.detector.network import Descriptions, locations
from tag2box.training.detector.objectives import (
    LEVEL_SIZES,
    MARGIN,
    NEAR_CENTER,
    NO_CLASS,
    SMALLEST,
    Objects,
    Sample,
    answering,
    box_loss,
    candidate_regions,
    quality_loss,
    sample_regions,
    second_stage_losses,
)
from tag2box.training.detector.regions import corrections, overlaps

PLACES, LEVELS = locations(128)
NO_BOXES = torch.zeros(0, 4)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def answers_for(*boxes: tuple[float, float, float, float]) -> Tensor:
    return answering(PLACES, LEVELS, torch.tensor(boxes).reshape(-1, 4))


def places_of(answers: Tensor, number: int) -> list[list[float]]:
    return PLACES[answers == number].tolist()


def test_locations_are_the_centres_of_cells() -> None:
    assert len(PLACES) == 16 * 16 + 8 * 8 + 4 * 4 + 2 * 2
    assert PLACES[:2].tolist() == [[4.0, 4.0], [12.0, 4.0]]
    assert PLACES[-4:].tolist() == [[32.0, 32.0], [96.0, 32.0], [32.0, 96.0], [96.0, 96.0]]
    assert LEVELS.bincount().tolist() == [256, 64, 16, 4]


def test_nobody_answers_where_there_is_nothing() -> None:
    assert (answers_for() == -1).all()


def test_a_small_object_is_answered_for_on_the_finest_level() -> None:
    answers = answers_for((54.0, 54.0, 74.0, 74.0))
    assert places_of(answers, 0) == [[60.0, 60.0], [68.0, 60.0], [60.0, 68.0], [68.0, 68.0]]
    assert LEVELS[answers == 0].tolist() == [0] * 4


def test_a_large_object_is_answered_for_near_its_centre_only() -> None:
    answers = answers_for((9.0, 9.0, 119.0, 119.0))  # 16 and 112 lie inside too, but 48 pixels from the centre
    assert places_of(answers, 0) == [[48.0, 48.0], [80.0, 48.0], [48.0, 80.0], [80.0, 80.0]]
    assert LEVELS[answers == 0].tolist() == [2] * 4


def test_the_margin_between_levels_is_shared() -> None:
    answers = answers_for((44.0, 44.0, 84.0, 84.0))
    assert set(LEVELS[answers == 0].tolist()) == {0, 1}


def test_the_smallest_object_wins() -> None:
    nested = [(40.0, 40.0, 70.0, 70.0), (48.0, 48.0, 62.0, 62.0)]
    answers, reversed_answers = answers_for(*nested), answers_for(*nested[::-1])
    assert places_of(answers, 1) == [[52.0, 52.0], [60.0, 52.0], [52.0, 60.0], [60.0, 60.0]]
    assert [44.0, 44.0] in places_of(answers, 0)
    assert torch.equal(answers == 0, reversed_answers == 1)


@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_answers_follow_the_definition(seed: int, count: int) -> None:
    corners = torch.rand(count, 2, 2, generator=generator(seed)) * 128
    boxes = torch.cat([corners.amin(1), corners.amax(1) + 4.0], dim=1)
    answers = answering(PLACES, LEVELS, boxes)
    for place in range(0, len(PLACES), 7):
        assert answers[place] == slow_answer(PLACES[place].tolist(), int(LEVELS[place]), boxes.tolist())


def slow_answer(place: list[float], level: int, boxes: list[list[float]]) -> int:
    found, smallest = -1, math.inf
    for number, (x0, y0, x1, y1) in enumerate(boxes):
        area, reach = (x1 - x0) * (y1 - y0), NEAR_CENTER * STRIDES[level]
        inside = x0 < place[0] < x1 and y0 < place[1] < y1
        near = abs(place[0] - (x0 + x1) / 2) < reach and abs(place[1] - (y0 + y1) / 2) < reach
        low, high = LEVEL_SIZES[level]
        if inside and near and low / MARGIN <= math.sqrt(area) <= high * MARGIN and area < smallest:
            found, smallest = number, area
    return found


def two_objects(ignored: Tensor = NO_BOXES, *, complete: bool = False) -> Objects:
    boxes = torch.tensor([[10.0, 10.0, 50.0, 50.0], [60.0, 60.0, 120.0, 100.0]])
    return Objects(boxes, torch.tensor([3, 1]), ignored, 110, 128, complete)


def test_the_box_loss_by_hand() -> None:
    objects = two_objects()._replace(boxes=torch.tensor([[0.0, 0.0, 10.0, 10.0], [20.0, 0.0, 30.0, 10.0]]))
    said = torch.tensor([[0.0, 0.0, 10.0, 10.0], [5.0, 5.0, 6.0, 6.0], [0.0, 0.0, 10.0, 10.0]])
    loss = box_loss(said, torch.tensor([0, -1, 1]), objects)
    assert loss.item() == pytest.approx(0.0 + 4 / 3)  # the last is apart: generalised overlap -1/3
    assert box_loss(said, torch.full((3,), -1), objects).item() == 0.0


PROPOSED = torch.tensor(
    [
        [10.0, 10.0, 50.0, 50.0],  # the first object
        [10.0, 10.0, 50.0, 40.0],  # overlap 0.75 with it
        [10.0, 10.0, 50.0, 28.0],  # overlap 0.45
        [10.0, 10.0, 50.0, 22.0],  # overlap 0.3
        [60.0, 0.0, 120.0, 20.0],  # elsewhere
    ]
)
ON_PHOTO = torch.full((5, 2), 20.0)


def quality_terms(objects: Objects, places: Tensor = ON_PHOTO, answered: int | None = None) -> list[float]:
    """Loss at each of the proposed boxes where all qualities are 1/2: the weight times the log of two."""
    answers = torch.full((5,), -1)
    if answered is not None:
        answers[answered] = 0
    logits = torch.zeros(5)
    terms = [
        quality_loss(PROPOSED[row : row + 1], logits[:1], places[row : row + 1], answers[row : row + 1], objects)
        for row in range(5)
    ]
    together = quality_loss(PROPOSED, logits, places, answers, objects)
    assert together.item() == pytest.approx(sum(term.item() for term in terms), rel=1e-6)
    return [term.item() / math.log(2) for term in terms]


def test_in_an_incomplete_photo_only_good_boxes_and_answers_are_judged() -> None:
    assert quality_terms(two_objects()) == pytest.approx([1, 1, 0, 0, 0])
    assert quality_terms(two_objects(), answered=2) == pytest.approx([1, 1, 1, 0, 0])


def test_in_a_complete_photo_boxes_elsewhere_are_judged_by_the_square_of_what_is_believed() -> None:
    objects = two_objects(complete=True)
    assert quality_terms(objects) == pytest.approx([1, 1, 0, 0, 0.25])
    assert quality_terms(objects, answered=4) == pytest.approx([1, 1, 0, 0, 1])
    beside = torch.tensor([[20.0, 110.0]]).repeat(5, 1)
    assert quality_terms(objects, beside) == pytest.approx([1, 1, 0, 0, 0])
    ignored = two_objects(torch.tensor([[60.0, 0.0, 120.0, 20.0]]), complete=True)
    assert quality_terms(ignored) == pytest.approx([1, 1, 0, 0, 0])


def test_quality_is_wanted_to_be_the_overlap() -> None:
    logits = torch.zeros(5, requires_grad=True)
    objects = two_objects(complete=True)
    quality_loss(PROPOSED, logits, ON_PHOTO, torch.full((5,), -1), objects).backward()  # type: ignore[no-untyped-call]
    assert logits.grad is not None
    assert logits.grad.tolist() == pytest.approx([0.5 - 1.0, 0.5 - 0.75, 0.0, 0.0, 0.25 * 0.5])


def test_a_photo_without_objects_teaches_only_if_it_is_complete() -> None:
    nothing = two_objects()._replace(boxes=NO_BOXES)
    assert quality_terms(nothing) == [0.0] * 5
    assert quality_terms(nothing._replace(complete=True)) == pytest.approx([0.25] * 5)


def test_candidates_hold_the_objects_and_stay_inside() -> None:
    objects, proposed = two_objects(), torch.tensor([[-30.0, -30.0, 500.0, 20.0]])
    candidates = candidate_regions(proposed, objects, generator())[:-1]
    assert len(candidates) == 2 + 4 * 2 + 1 + 30
    assert torch.equal(candidates[:2], objects.boxes)
    assert candidates[10].tolist() == [0.0, 0.0, 128.0, 20.0]
    assert (candidates[:, :2] >= 0).all()
    assert (candidates[:, 2:] <= torch.tensor([128.0, 110.0])).all()
    assert (candidates[:, 2:] - candidates[:, :2] >= SMALLEST - 1e-4).all()
    assert overlaps(candidates[2:10], objects.boxes).amax(1).mean() > 0.4  # shaken, not thrown away


def test_candidates_hold_the_whole_photo() -> None:
    candidates = candidate_regions(NO_BOXES, two_objects(), generator())
    assert candidates[-1].tolist() == [0.0, 0.0, 128.0, 110.0]


CANDIDATES = torch.tensor(
    [
        [10.0, 10.0, 50.0, 50.0],  # the first object
        [10.0, 10.0, 50.0, 28.0],  # overlap 0.45 with it: neither object nor background
        [10.0, 10.0, 50.0, 22.0],  # overlap 0.3 with it: beside
        [60.0, 0.0, 120.0, 20.0],  # elsewhere
        [0.0, 60.0, 40.0, 100.0],  # elsewhere
        [62.0, 60.0, 120.0, 100.0],  # the second object, nearly
    ]
)


def test_sampled_regions_are_labelled_by_their_overlap() -> None:
    none_of_them = {True: 7, False: NO_CLASS}  # who knows what else is in a photo that is not complete
    for complete, none in none_of_them.items():
        sample = sample_regions(CANDIDATES, two_objects(complete=complete), 7, 60, generator())
        labels = dict(zip(map(tuple, sample.boxes.tolist()), sample.labels.tolist(), strict=True))
        assert [labels[tuple(box)] for box in CANDIDATES.tolist()] == [3, NO_CLASS, none, none, none, 1]
    best, which = overlaps(sample.boxes, two_objects().boxes).max(1)
    assert torch.equal(sample.overlaps, best)
    assert torch.equal(sample.targets, two_objects().boxes[which])


def test_a_third_each_is_taken_on_beside_and_elsewhere() -> None:
    many = CANDIDATES.repeat(10, 1)
    sample = sample_regions(many, two_objects(), 7, 12, generator())
    assert len(sample.boxes) == 12
    assert (sample.overlaps >= 0.5).sum() == 4
    assert (sample.overlaps < 0.2).sum() == 4
    again = sample_regions(many, two_objects(), 7, 12, generator())
    other = sample_regions(many, two_objects(), 7, 12, generator(1))
    assert torch.equal(sample.boxes, again.boxes)
    assert not torch.equal(sample.boxes, other.boxes)


def test_what_is_ignored_gives_no_background() -> None:
    crowd = torch.tensor([[55.0, 0.0, 125.0, 22.0]])
    sample = sample_regions(CANDIDATES, two_objects(crowd), 7, 60, generator())
    assert CANDIDATES[3].tolist() not in sample.boxes.tolist()
    assert CANDIDATES[4].tolist() in sample.boxes.tolist()


def a_sample() -> Sample:
    return sample_regions(CANDIDATES, two_objects(), 7, 60, generator())


def perfect_words(sample: Sample) -> Descriptions:
    scores = torch.zeros(len(sample.boxes), 8)
    known = sample.labels != NO_CLASS
    scores[known, sample.labels[known]] = 1.0
    quality = torch.logit(sample.overlaps.clamp(1e-6, 1 - 1e-6))
    return Descriptions(corrections(sample.boxes, sample.targets), quality, torch.zeros(len(quality), 3), scores)


def test_perfect_words_cost_nothing_that_can_be_avoided() -> None:
    sample = a_sample()
    losses = second_stage_losses(perfect_words(sample), sample)
    assert losses["correction"].item() == 0.0
    judged = sample.overlaps[sample.overlaps >= 0.2].double().clamp(1e-9, 1 - 1e-9)
    entropy = -(judged * judged.log() + (1 - judged) * (1 - judged).log()).mean()
    assert losses["quality"].item() == pytest.approx(entropy.item(), abs=1e-4)


def test_the_class_loss_by_hand() -> None:
    """Of 8 classes the right one scores 1, the others 0; a twentieth of the label is spread over all."""
    sample = a_sample()
    total = math.log(math.e + 7.0)
    right, wrong = total - 1.0, total
    wanted = 0.95 * right + 0.05 * (right + 7 * wrong) / 8
    assert second_stage_losses(perfect_words(sample), sample)["class"].item() == pytest.approx(wanted, abs=1e-5)


def test_the_correction_loss_by_hand() -> None:
    sample = a_sample()
    words = perfect_words(sample)
    off = words._replace(corrections=words.corrections + torch.tensor([0.5, 0.0, 2.0, 0.0]))
    wanted = (0.5 * 0.5**2 + (2.0 - 0.5)) / 4  # smooth L1 is a parabola up to 1, then a line
    assert second_stage_losses(off, sample)["correction"].item() == pytest.approx(wanted, abs=1e-5)


def test_regions_elsewhere_are_neither_judged_nor_moved() -> None:
    """What nobody labelled may be an object: its quality must stay free."""
    sample = a_sample()
    quality = torch.zeros(len(sample.boxes), requires_grad=True)
    said = torch.ones(len(sample.boxes), 4, requires_grad=True)
    losses = second_stage_losses(perfect_words(sample)._replace(quality=quality, corrections=said), sample)
    (losses["quality"] + losses["correction"]).backward()  # type: ignore[no-untyped-call]
    assert quality.grad is not None
    assert said.grad is not None
    assert torch.equal(quality.grad != 0, sample.overlaps >= 0.2)
    assert torch.equal((said.grad != 0).any(1), sample.overlaps >= 0.4)


def test_in_a_complete_photo_every_region_is_judged() -> None:
    sample = sample_regions(CANDIDATES, two_objects(complete=True), 7, 60, generator())
    assert sample.judged.all()
    assert torch.equal(a_sample().judged, a_sample().overlaps >= 0.2)


def test_losses_over_no_region_are_zero() -> None:
    far = torch.tensor([[60.0, 0.0, 120.0, 20.0]])
    sample = Sample(far, torch.tensor([7]), two_objects().boxes[:1], torch.tensor([0.0]), torch.tensor([False]))
    losses = second_stage_losses(perfect_words(sample), sample)
    assert (losses["correction"].item(), losses["quality"].item()) == (0.0, 0.0)

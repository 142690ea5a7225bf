"""The head against scipy, class by class."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.optimize import minimize as scipy_minimize

from samples import paper_method, random_bag, random_bags, random_units, unit
from tag2box.arrays import Array
from tag2box.errors import NoImagesOfClassError, ShapeError, TooFewImagesError
from tag2box.evaluation import ap_area, average_precisions, macro_mean, match_voc
from tag2box.methods.detectors import CosineHead, fit_cosine_head, fit_few_shot
from tag2box.methods.localizers import NO_BACKGROUND, OddsBackground
from tag2box.methods.view import center_bag
from tag2box.types import ABSENT, Localization, ProposalBag
from tag2box.worlds import World, plant_task

TAGS = [("cat",), ("cat", "dog"), ("dog",), ("cow",), ("cow", "cat"), ()]


def chosen(rows: list[int], bags: list[ProposalBag]) -> Localization:
    weights = tuple(
        np.eye(len(bag))[row] if row != ABSENT else np.zeros(len(bag)) for row, bag in zip(rows, bags, strict=True)
    )
    return Localization(np.array(rows), np.zeros(len(rows)), weights)


def support(seed: int = 0) -> tuple[list[ProposalBag], dict[str, Localization]]:
    """Six images with several tags, and a chosen row for each tag of each."""
    rng = np.random.default_rng(seed)
    bags = [random_bag(rng, 8, 6, f"image-{n}") for n in range(6)]
    found = {}
    for label in ("cat", "dog", "cow"):
        showing = [bag for bag, tags in zip(bags, TAGS, strict=True) if label in tags]
        found[label] = chosen([int(rng.integers(8)) for _ in showing], showing)
    return bags, found


def slow_loss(v: Array, positives: Array, negatives: Array, tau: float, balanced: bool) -> float:
    """Sigmoid cross entropy of one class, from the definition."""
    direction = v / np.linalg.norm(v)
    right = np.logaddexp(0.0, -tau * positives @ direction)
    wrong = np.logaddexp(0.0, tau * negatives @ direction)
    return float((right.mean() + wrong.mean()) / 2 if balanced else np.concatenate([right, wrong]).mean())


def examples(label: str, bags: list[ProposalBag], found: dict[str, Localization]) -> tuple[Array, Array]:
    """Positives and negatives of a class, as the spec says it."""
    showing = [bag for bag, tags in zip(bags, TAGS, strict=True) if label in tags]
    positives = [bag.features[row] for bag, row in zip(showing, found[label].rows, strict=True)]
    negatives = [bag.features for bag, tags in zip(bags, TAGS, strict=True) if label not in tags]
    return np.stack(positives).astype(float), np.concatenate(negatives).astype(float)


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_all_classes_together_reach_what_scipy_reaches_one_by_one(seed: int, balanced: bool) -> None:
    bags, found = support(seed)
    head = fit_cosine_head(bags, TAGS, found, tau=10.0, balanced=balanced)
    for label, direction in zip(head.classes, head.directions, strict=True):
        positives, negatives = examples(label, bags, found)
        best = scipy_minimize(
            slow_loss, positives.sum(axis=0), (positives, negatives, 10.0, balanced), method="L-BFGS-B", tol=1e-12
        )
        ours = slow_loss(direction, positives, negatives, 10.0, balanced)
        assert ours <= best.fun + 1e-6


def test_a_class_does_not_depend_on_its_company() -> None:
    bags, found = support(1)
    together = fit_cosine_head(bags, TAGS, found)
    for place, label in enumerate(together.classes):
        alone = fit_cosine_head(bags, TAGS, {label: found[label]})
        np.testing.assert_allclose(together.directions[place], alone.directions[0], atol=1e-5)


def test_scores_are_tau_times_cosine() -> None:
    rng = np.random.default_rng(0)
    directions, bag = random_units(rng, 2, 5), random_bag(rng)
    head = CosineHead(("a", "b"), directions, tau=7.0)
    np.testing.assert_allclose(head.score(bag), 7.0 * bag.features.astype(float) @ directions.T)


def test_a_centred_head_learns_and_scores_centred_features() -> None:
    bags, found = support(2)
    mean = 0.3 * unit(np.ones(6))
    inside = fit_cosine_head(bags, TAGS, found, center=mean)
    outside = fit_cosine_head([center_bag(bag, mean) for bag in bags], TAGS, found)
    np.testing.assert_allclose(inside.directions, outside.directions, atol=1e-9)
    np.testing.assert_allclose(inside.score(bags[0]), outside.score(center_bag(bags[0], mean)))


def test_absent_images_are_neither_positive_nor_negative() -> None:
    bags, found = support(3)
    cat_bags = [bag for bag, tags in zip(bags, TAGS, strict=True) if "cat" in tags]
    rows = found["cat"].rows.tolist()
    absent = fit_cosine_head(bags, TAGS, {"cat": chosen([rows[0], ABSENT, rows[2]], cat_bags)})
    kept = [place for place in range(6) if place != 1]
    without = fit_cosine_head(
        [bags[place] for place in kept],
        [TAGS[place] for place in kept],
        {"cat": chosen([rows[0], rows[2]], [cat_bags[0], cat_bags[2]])},
    )
    np.testing.assert_allclose(absent.directions, without.directions, atol=1e-6)


def test_one_class_without_any_negative_points_at_its_examples() -> None:
    bags = random_bags(4)
    found = chosen([0] * len(bags), bags)
    head = fit_cosine_head(bags, [("cat",)] * len(bags), {"cat": found})
    positives = np.stack([bag.features[0] for bag in bags]).astype(float)
    assert np.isfinite(head.directions).all()
    assert (positives @ head.directions[0]).mean() > 0.2


def test_every_class_is_suppressed_on_its_own() -> None:
    rng = np.random.default_rng(5)
    bag = random_bag(rng, 20)
    head = CosineHead(("a", "b"), random_units(rng, 2, 5))
    found = head.detect(bag, max_overlap=0.4, max_detections=3)
    for label in ("a", "b"):
        assert 0 < len(found.of_class(label)) <= 3
    assert (np.diff(found.scores) <= 0).all()


def test_a_class_without_images_is_refused() -> None:
    bags, found = support(6)
    with pytest.raises(NoImagesOfClassError, match="class 'emu' has no image"):
        fit_cosine_head(bags, TAGS, {**found, "emu": chosen([], [])})
    with pytest.raises(NoImagesOfClassError, match="class 'emu' has no image"):
        fit_few_shot(bags, TAGS, ["cat", "emu"], paper_method(World(dimension=6)), np.random.default_rng(0))


def test_a_class_with_one_image_is_refused_by_name() -> None:
    bags, _ = support(6)
    with pytest.raises(TooFewImagesError, match="class 'owl': a common object was asked for in 1 image"):
        fit_few_shot(bags, [("owl",), *TAGS[1:]], ["owl"], paper_method(World(dimension=6)), np.random.default_rng(0))


def test_a_localization_of_other_images_is_refused() -> None:
    bags, found = support(7)
    with pytest.raises(ShapeError, match="localization of 'cat'"):
        fit_cosine_head(bags, TAGS, {"cat": found["dog"]})


def test_tags_to_detections_on_a_planted_world() -> None:
    world = World()
    task = plant_task(world, 0, ways=4, queries=5)
    bags, tags = [image.bag for image in task.support], [image.tags for image in task.support]
    fit = fit_few_shot(bags, tags, task.classes, paper_method(world), np.random.default_rng(0))
    pairs = [(fit.head.detect(image.bag), image.truth) for image in task.queries]
    assert macro_mean(average_precisions(pairs, task.classes, match_voc, ap_area)) > 0.9
    assert any(len(labels) > 1 for labels in tags)
    for label in task.classes:
        assert len(fit.localizations[label].rows) == sum(label in labels for labels in tags)


def test_the_head_learns_in_the_space_of_its_localizer() -> None:
    bags, _ = support(8)
    mean = 0.2 * unit(np.ones(6))
    method = replace(paper_method(World(dimension=6)), center=mean)
    fit = fit_few_shot(bags, TAGS, ["cat"], method, np.random.default_rng(0))
    assert fit.head.center is not None
    np.testing.assert_array_equal(fit.head.center, mean)


def test_the_minimum_is_reached_at_unit_length() -> None:
    """The gradient shrinks as v grows; at length 1 it must vanish too."""
    for seed in range(10):
        bags, found = support(seed)
        head = fit_cosine_head(bags, TAGS, found, tau=40.0)
        for label, direction in zip(head.classes, head.directions, strict=True):
            positives, negatives = examples(label, bags, found)
            slope = approx_fprime(direction, slow_loss, 1e-7, positives, negatives, 40.0, False)
            assert np.abs(slope).max() < 1e-5


@pytest.mark.parametrize(
    ("tags", "classes", "complaint"),
    [
        (TAGS[:-1], ["cat"], "6 images came with 5 sets of tags"),
        (TAGS, [], r"the classes \[\]"),
        (TAGS, ["cat", "cat"], "each once"),
        (["cat", *TAGS[1:]], ["cat"], "are the text 'cat'"),
    ],
)
def test_tags_that_do_not_fit_are_refused(tags: list[Any], classes: list[str], complaint: str) -> None:
    bags, _ = support(9)
    with pytest.raises(ShapeError, match=complaint):
        fit_few_shot(bags, tags, classes, paper_method(World(dimension=6)), np.random.default_rng(0))


def test_heads_that_make_no_sense_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ShapeError, match="tau is 0"):
        CosineHead(("a",), random_units(rng, 1, 5), tau=0.0)
    with pytest.raises(ShapeError, match="features of 5 dimensions, the detection head has 6"):
        CosineHead(("a",), random_units(rng, 1, 6)).detect(random_bag(rng))
    with pytest.raises(ShapeError, match="max_detections is -1"):
        CosineHead(("a",), random_units(rng, 1, 5)).detect(random_bag(rng), max_detections=-1)


def test_a_prior_counts_against_regions_in_new_photos_alone() -> None:
    bags, found = support()
    plain, wary = (fit_cosine_head(bags, TAGS, found, prior=prior) for prior in (NO_BACKGROUND, OddsBackground()))
    np.testing.assert_array_equal(plain.directions, wary.directions)
    expected = plain.score(bags[2]) - OddsBackground().log_score(bags[2])[:, None]
    np.testing.assert_allclose(wary.score(bags[2]), expected)

"""What every method of the lineup must do, whoever wrote it."""

from __future__ import annotations

import numpy as np
import pytest

from samples import random_bags, some_knowledge
from tag2box.methods.knowledge import Knowledge
from tag2box.methods.learners import ClassesLearner, LearnedObject
from tag2box.methods.lineup import LINEUP
from tag2box.methods.localizers import (
    NO_BACKGROUND,
    OddsBackground,
    SceneMil,
    Solution,
    SummedBackground,
    VmfMil,
    background_only,
)
from tag2box.methods.space import Space
from tag2box.methods.view import center_bag
from tag2box.types import ProposalBag

POSITIVES, NEGATIVES = random_bags(0, images=4), random_bags(1, images=3)


def some_choice(name: str) -> dict[str, float]:
    """The second value of every setting (the first is often 0), also of those that belong to another method."""
    entry = LINEUP[name]
    inherited = some_choice(entry.like) if entry.like is not None else {}
    return inherited | {key: values[1] for key, values in entry.grid.items()}


def other_choice(name: str) -> dict[str, float]:
    """The last values, with which everything counts that can."""
    entry = LINEUP[name]
    inherited = other_choice(entry.like) if entry.like is not None else {}
    return inherited | {key: values[-1] for key, values in entry.grid.items()}


def learned(name: str, seed: int = 0, known: Knowledge | None = None) -> LearnedObject:
    learner = LINEUP[name].build(known or some_knowledge(), some_choice(name))
    return learner.learn(POSITIVES, NEGATIVES, np.random.default_rng(seed))


@pytest.mark.parametrize("name", LINEUP)
def test_a_row_of_each_positive_and_a_score_for_each_region(name: str) -> None:
    found = learned(name)
    assert found.localization.rows.shape == (len(POSITIVES),)
    for bag, row in zip(POSITIVES, found.localization.rows, strict=True):
        assert 0 <= row < len(bag)
    for bag in NEGATIVES:
        scores = found.score(bag)
        assert scores.shape == (len(bag),)
        assert np.isfinite(scores).all()


@pytest.mark.parametrize("name", LINEUP)
def test_the_same_seed_gives_the_same_answer(name: str) -> None:
    first, second = learned(name, 3), learned(name, 3)
    np.testing.assert_array_equal(first.localization.rows, second.localization.rows)
    np.testing.assert_array_equal(first.score(NEGATIVES[0]), second.score(NEGATIVES[0]))


@pytest.mark.parametrize("name", LINEUP)
def test_an_image_is_scored_by_its_regions_alone(name: str) -> None:
    """Rows in another order have the same scores in that order; the whole image stays in front."""
    found, bag = learned(name), NEGATIVES[1]
    order = np.concatenate([[0], 1 + np.random.default_rng(0).permutation(len(bag) - 1)])
    turned = ProposalBag(bag.image_id, bag.boxes[order], bag.features[order], bag.objectness[order], bag.norms[order])
    if name == "random-region":
        return  # chance knows places only
    np.testing.assert_allclose(found.score(turned), found.score(bag)[order], rtol=1e-5, atol=1e-6)


def learns_together(name: str) -> bool:
    return isinstance(LINEUP[name].build(some_knowledge(), some_choice(name)), ClassesLearner)


@pytest.mark.parametrize("name", [name for name in LINEUP if learns_together(name)])
def test_classes_learned_together_are_those_learned_alone(name: str) -> None:
    learner = LINEUP[name].build(some_knowledge(), other_choice(name))
    assert isinstance(learner, ClassesLearner)
    bags, tags = [*POSITIVES, *NEGATIVES], [{"cat"}] * 4 + [{"dog"}] * 3
    together = learner.learn_classes(bags, tags, ["cat", "dog"], np.random.default_rng(0))
    alone = learner.learn(POSITIVES, NEGATIVES, np.random.default_rng(0))
    np.testing.assert_array_equal(together["cat"].localization.rows, alone.localization.rows)
    np.testing.assert_allclose(together["cat"].score(bags[0]), alone.score(bags[0]), rtol=1e-4, atol=1e-4)
    assert not np.allclose(together["dog"].score(bags[0]), alone.score(bags[0]))


OWN_SETTINGS = [(name, setting) for name, entry in LINEUP.items() if entry.like for setting in entry.grid]


@pytest.mark.parametrize(("name", "setting"), OWN_SETTINGS)
def test_what_is_chosen_beside_the_settings_of_another_counts(name: str, setting: str) -> None:
    scores = []
    for value in (LINEUP[name].grid[setting][0], LINEUP[name].grid[setting][-1]):
        learner = LINEUP[name].build(some_knowledge(), some_choice(name) | {setting: value})
        scores.append(learner.learn(POSITIVES, NEGATIVES, np.random.default_rng(0)).score(NEGATIVES[0]))
    assert not np.allclose(scores[0], scores[1])


def test_who_uses_the_settings_of_another_leaves_them_as_they_are() -> None:
    for name, entry in LINEUP.items():
        if entry.like is not None:
            assert LINEUP[entry.like].grid, name
            assert not set(entry.grid) & set(LINEUP[entry.like].grid), name
    assert len({entry.title for entry in LINEUP.values()}) == len(LINEUP)


BY_ORDER = [
    name
    for name in LINEUP
    if name.startswith(("greedy-tree", "uijlings")) or name in ("trws", "astar", "random-start", "mi-max")
]
"""Relations are asked of an earlier and a later image, folds go by place, starts by what is first."""


@pytest.mark.parametrize("name", [name for name in LINEUP if name not in BY_ORDER])
def test_the_order_of_the_photos_does_not_matter(name: str) -> None:
    order = [2, 0, 3, 1]
    learner = LINEUP[name].build(some_knowledge(), some_choice(name))
    turned = learner.learn([POSITIVES[place] for place in order], NEGATIVES[::-1], np.random.default_rng(0))
    found = learned(name)
    np.testing.assert_array_equal(turned.localization.rows, found.localization.rows[order])
    np.testing.assert_allclose(turned.score(NEGATIVES[0]), found.score(NEGATIVES[0]), rtol=1e-3, atol=1e-3)


NEEDS_NEGATIVES = [
    name for name in LINEUP if name.endswith("-detector") or name.startswith(("mi-svm", "uijlings", "mi-max"))
]
FOR_PEOPLE = ["vmf-mil-scenes", "vmf-mil-likeness"]
USES_NEGATIVES = [*FOR_PEOPLE, "greedy-tree-negatives"]


@pytest.mark.parametrize("name", [name for name in LINEUP if name not in NEEDS_NEGATIVES + USES_NEGATIVES])
def test_who_needs_no_negatives_does_not_look_at_them(name: str) -> None:
    learner = LINEUP[name].build(some_knowledge(), other_choice(name))
    without, found = (learner.learn(POSITIVES, others, np.random.default_rng(0)) for others in ((), NEGATIVES))
    np.testing.assert_array_equal(without.localization.rows, found.localization.rows)
    np.testing.assert_array_equal(without.score(NEGATIVES[0]), found.score(NEGATIVES[0]))


@pytest.mark.parametrize("name", USES_NEGATIVES)
def test_who_can_use_negatives_looks_at_them_where_there_are_some(name: str) -> None:
    learner = LINEUP[name].build(some_knowledge(), other_choice(name))
    assert LINEUP[name].for_people == (name in FOR_PEOPLE)
    without, found = (learner.learn(POSITIVES, others, np.random.default_rng(0)) for others in ((), NEGATIVES))
    assert not np.allclose(without.score(NEGATIVES[0]), found.score(NEGATIVES[0]))


def test_what_users_get_by_hand() -> None:
    """Along axes of kinship, from what looks like an object, by how alike the scenes are and what they share."""
    known, chosen = some_knowledge(), {**other_choice("vmf-mil-scenes"), "axes": 3.0}
    vmf = VmfMil(
        chosen["axes"],
        SummedBackground(((chosen["objectness_weight"], OddsBackground()),)),
        center=known.center,
        space=Space(known.center, known.spread.mean, known.kinship),
        start=background_only,
        kappa_rule=lambda r, d: np.minimum(chosen["axes"] * np.asarray(r) / (1.0 - np.asarray(r) ** 2), 48.0),
    )
    expected = SceneMil(vmf, chosen["commonness_weight"], chosen["sharedness_weight"], chosen["rivalry_weight"])
    built = LINEUP["vmf-mil-scenes"].build(known, chosen)
    theirs, ours = (one.learn(POSITIVES, NEGATIVES, np.random.default_rng(0)) for one in (expected, built))
    np.testing.assert_array_equal(ours.score(NEGATIVES[0]), theirs.score(NEGATIVES[0]))


@pytest.mark.parametrize("name", [name for name in LINEUP if name.startswith("em-")])
def test_a_method_that_counts_its_steps_makes_exactly_so_many(name: str) -> None:
    found = learned(name)
    assert isinstance(found, Solution)
    assert len(found.steps) == 1 + int(name.removeprefix("em-"))  # the start is one of them
    longest = learned("em-12")
    assert isinstance(longest, Solution)
    np.testing.assert_allclose(found.foreground.theta, longest.steps[len(found.steps) - 1].foreground.theta)


def test_ablations_by_hand() -> None:
    known, chosen, rng = some_knowledge(), some_choice("vmf-mil"), np.random.default_rng(0)
    np.testing.assert_array_equal(learned("prototypical").score(POSITIVES[0]), learned("em-0").score(POSITIVES[0]))
    for bag, row in zip(POSITIVES, learned("background-only").localization.rows, strict=True):
        assert row == known.background.log_score(center_bag(bag, known.center)).argmin()
    bare = VmfMil(chosen["kappa"], NO_BACKGROUND, center=known.center, max_steps=int(chosen["steps"]))
    expected = bare.learn(POSITIVES, (), rng).score(NEGATIVES[0])
    np.testing.assert_allclose(learned("no-background").score(NEGATIVES[0]), expected)

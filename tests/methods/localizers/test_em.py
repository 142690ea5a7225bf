"""Algorithm 1 against a plain loop, and what must hold for every input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

from samples import exact_em, random_bags, random_units, unit
from tag2box.arrays import Array
from tag2box.methods.localizers import NO_BACKGROUND, NoBackground, VmfBackground, VmfMil, random_regions, run_em
from tag2box.methods.localizers import given as given_directions
from tag2box.sphere import KAPPA_RULES, VonMisesFisher, kappa_exact, kappa_series, log_normalizer
from tag2box.types import ProposalBag

seeds = st.integers(0, 2**32 - 1)
concentrations = st.floats(0.5, 60.0)


def model(kappa: float, seed: int = 0, d: int = 5, **settings: object) -> VmfMil:
    """vMF-MIL with some background, in double precision."""
    mean = random_units(np.random.default_rng(seed), 1, d)[0]
    return VmfMil(kappa, VmfBackground(VonMisesFisher(mean, 4.0)), **{"em": exact_em, **settings})  # type: ignore[arg-type]


def algorithm_1(bags: list[ProposalBag], kappa: float, mu: Array, kappa_b: float, steps: int) -> tuple[Array, Array]:
    """The paper's Algorithm 1, line by line."""
    theta = unit(np.sum([bag.features[0].astype(float) for bag in bags], axis=0))
    rows: list[int] = []
    for _ in range(steps + 1):
        total, rows = np.zeros(len(theta)), []
        for bag in bags:
            o = [kappa * float(theta @ x) - kappa_b * float(mu @ x) for x in bag.features.astype(float)]
            top = max(o)
            weights = [math.exp(value - top) for value in o]
            for weight, x in zip(weights, bag.features.astype(float), strict=True):
                total += weight / sum(weights) * x
            rows.append(int(np.argmax(weights)))
        answer, theta = theta, unit(total)
    return answer, np.array(rows)


@given(seeds, concentrations, st.integers(0, 6))
def test_em_is_algorithm_1(seed: int, kappa: float, steps: int) -> None:
    bags = random_bags(seed)
    mu = random_units(np.random.default_rng(0), 1, 5)[0]
    found = model(kappa, max_steps=steps, tol=0.0).solve(bags, np.random.default_rng(0))
    theta, rows = algorithm_1(bags, kappa, mu, 4.0, steps)
    np.testing.assert_allclose(found.foreground.theta, theta, atol=1e-8)
    assert found.localization.rows.tolist() == rows.tolist()
    assert len(found.steps) == steps + 1


@given(seeds, concentrations)
def test_the_likelihood_never_falls(seed: int, kappa: float) -> None:
    steps = model(kappa, seed).solve(random_bags(seed), np.random.default_rng(0)).steps
    likelihoods = np.array([step.likelihood for step in steps])
    assert (np.diff(likelihoods) >= -1e-9 * np.abs(likelihoods[1:])).all()


@given(seeds)
def test_with_the_exact_rule_the_likelihood_never_falls_either(seed: int) -> None:
    steps = model(5.0, seed, kappa_rule=kappa_exact).solve(random_bags(seed), np.random.default_rng(0)).steps
    capped = kappa_exact(1.0, 5)  # one region each: r would be 1, and kappa infinite
    likelihoods = np.array([step.likelihood for step in steps if step.foreground.kappa < 0.5 * capped])
    assert (np.diff(likelihoods) >= -1e-8 * np.abs(likelihoods[1:])).all()


@given(seeds)
def test_the_likelihood_by_the_definition(seed: int) -> None:
    bags, mean = random_bags(seed), random_units(np.random.default_rng(seed), 1, 5)[0]
    step = model(7.0, seed).solve(bags, np.random.default_rng(0)).steps[-1]
    expected = -len(bags) * float(log_normalizer(7.0, 5))
    for bag in bags:
        logits = bag.features.astype(float) @ (7.0 * step.foreground.theta - 4.0 * mean)
        expected += math.log(np.exp(logits).sum())
    assert step.likelihood == pytest.approx(expected, rel=1e-9)


@given(seeds, concentrations)
def test_the_order_of_images_does_not_matter(seed: int, kappa: float) -> None:
    bags = random_bags(seed)
    order = np.random.default_rng(seed).permutation(len(bags))
    plain = model(kappa).solve(bags, np.random.default_rng(0))
    mixed = model(kappa).solve([bags[place] for place in order], np.random.default_rng(0))
    np.testing.assert_allclose(mixed.foreground.theta, plain.foreground.theta, atol=1e-7)
    assert mixed.localization.rows.tolist() == plain.localization.rows[order].tolist()


@given(seeds, concentrations)
def test_the_order_of_regions_does_not_matter(seed: int, kappa: float) -> None:
    bags, rng = random_bags(seed), np.random.default_rng(seed)
    orders = [np.append(0, 1 + rng.permutation(len(bag) - 1)) for bag in bags]
    mixed_bags = [
        ProposalBag(bag.image_id, *(array[order] for array in (bag.boxes, bag.features, bag.objectness, bag.norms)))
        for bag, order in zip(bags, orders, strict=True)
    ]
    plain = model(kappa).solve(bags, np.random.default_rng(0)).localization
    mixed = model(kappa).solve(mixed_bags, np.random.default_rng(0)).localization
    assert [int(order[row]) for order, row in zip(orders, mixed.rows, strict=True)] == plain.rows.tolist()
    np.testing.assert_allclose(mixed.scores, plain.scores, atol=1e-5)


@given(seeds, concentrations)
def test_rotated_features_give_a_rotated_direction(seed: int, kappa: float) -> None:
    bags = random_bags(seed)
    turn = ortho_group.rvs(5, random_state=seed % 2**31)
    mean = random_units(np.random.default_rng(0), 1, 5)[0]
    turned_bags = [
        ProposalBag(bag.image_id, bag.boxes, (bag.features @ turn.T).astype(np.float32), bag.objectness, bag.norms)
        for bag in bags
    ]
    plain = model(kappa, max_steps=5, tol=0.0).solve(bags, np.random.default_rng(0))
    turned = VmfMil(kappa, VmfBackground(VonMisesFisher(turn @ mean, 4.0)), max_steps=5, tol=0.0)
    found = turned.solve(turned_bags, np.random.default_rng(0))
    np.testing.assert_allclose(found.foreground.theta, turn @ plain.foreground.theta, atol=1e-4)


def test_the_weights_belong_to_the_returned_direction() -> None:
    bags = random_bags(3)
    solution = model(9.0, max_steps=1).solve(bags, np.random.default_rng(0))
    mean = random_units(np.random.default_rng(0), 1, 5)[0]
    for bag, weights in zip(bags, solution.localization.weights, strict=True):
        logits = bag.features.astype(float) @ (9.0 * solution.foreground.theta - 4.0 * mean)
        np.testing.assert_allclose(weights, np.exp(logits) / np.exp(logits).sum(), rtol=1e-9)
        np.testing.assert_allclose(solution.score(bag), logits, atol=1e-5)


@given(seeds, concentrations)
def test_single_precision_is_enough(seed: int, kappa: float) -> None:
    bags = random_bags(seed)
    single, double = (model(kappa, em=em).solve(bags, np.random.default_rng(0)) for em in (run_em, exact_em))
    assert abs(len(single.steps) - len(double.steps)) <= 1
    shared = min(len(single.steps), len(double.steps)) - 1
    found, expected = single.steps[shared].foreground, double.steps[shared].foreground
    np.testing.assert_allclose(found.theta, expected.theta, atol=1e-4)
    first, exact = single.steps[0], double.steps[0]
    np.testing.assert_allclose(single.weights_at(first), double.weights_at(exact), atol=1e-5)


def test_a_solution_says_whether_em_ended_by_itself() -> None:
    bags = random_bags(4)
    assert model(9.0).solve(bags, np.random.default_rng(0)).converged
    assert not model(9.0, max_steps=1).solve(bags, np.random.default_rng(0)).converged
    assert not model(9.0, max_steps=0).solve(bags, np.random.default_rng(0)).converged


def test_the_film_has_the_likeliest_row_of_every_step() -> None:
    solution = model(9.0).solve(random_bags(4), np.random.default_rng(0))
    rows = solution.rows_by_step()
    assert rows.shape == (len(solution.steps), len(solution.views))
    assert rows[-1].tolist() == solution.localization.rows.tolist()
    for step in solution.steps:
        weights = solution.stack.split(solution.weights_at(step))
        assert step.rows.tolist() == [int(own.argmax()) for own in weights]


def test_every_step_can_be_replayed() -> None:
    solution = model(9.0).solve(random_bags(4), np.random.default_rng(0))
    assert len(solution.steps) > 2
    for before, after in zip(solution.steps, solution.steps[1:], strict=False):
        assert not np.array_equal(solution.weights_at(before), solution.weights_at(after))
        assert after.foreground is not before.foreground
    last, one_before = solution.steps[-1].foreground.theta, solution.steps[-2].foreground.theta
    assert 1.0 - last @ one_before < 1e-7


@pytest.mark.parametrize("name", KAPPA_RULES)
def test_a_rule_sets_kappa_from_the_resultant_of_the_step_before(name: str) -> None:
    bags = random_bags(5)
    found = model(3.0, kappa_rule=KAPPA_RULES[name], max_steps=1).solve(bags, np.random.default_rng(0))
    features, steps = np.concatenate([bag.features for bag in bags]).astype(float), found.steps
    length = float(np.linalg.norm(found.weights_at(steps[0]) @ features)) / len(bags)
    assert steps[0].foreground.kappa == 3.0
    assert steps[1].foreground.kappa == pytest.approx(float(KAPPA_RULES[name](length, 5)))


def test_without_kappa_the_rule_starts_from_the_whole_images() -> None:
    bags = random_bags(6)
    rule = KAPPA_RULES["order-0"]
    first = VmfMil(None, NO_BACKGROUND, kappa_rule=rule).solve(bags, np.random.default_rng(0)).steps[0].foreground
    length = float(np.linalg.norm(np.mean([bag.features[0] for bag in bags], axis=0)))
    assert first.kappa == pytest.approx(float(kappa_series(length, 5, order=0)), rel=1e-6)


def test_the_best_of_several_given_starts_is_kept() -> None:
    bags, rng = random_bags(7, images=6), np.random.default_rng(0)
    starts = random_units(rng, 5, 5)
    alone = [model(30.0, start=given_directions(start)).solve(bags, rng).steps[-1].likelihood for start in starts]
    together = model(30.0, start=given_directions(starts)).solve(bags, rng).steps[-1].likelihood
    assert together == pytest.approx(max(alone))
    assert max(alone) > min(alone) + 0.1


def test_a_random_start_depends_on_the_generator_alone() -> None:
    bags = random_bags(8, images=6)
    thetas = [
        model(5.0, start=random_regions, max_steps=0).solve(bags, np.random.default_rng(seed)).foreground.theta
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(thetas[0], thetas[1])
    assert not np.allclose(thetas[0], thetas[2])


def test_opposite_features_leave_the_direction_where_it_was() -> None:
    up, down = np.array([[0.0, 1.0]]), np.array([[0.0, -1.0]])
    bags = [ProposalBag.from_raw(name, [[0, 0, 1, 1]], row, [0.5]) for name, row in (("a", up), ("b", down))]
    start = np.array([1.0, 0.0])
    found = VmfMil(1.0, NoBackground(), start=given_directions(start)).solve(bags, np.random.default_rng(0))
    np.testing.assert_array_equal(found.foreground.theta, start)

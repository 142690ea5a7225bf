"""Common object localization on planted worlds, where the order of the methods is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from samples import paper_method, unit
from tag2box.boxes import box_overlaps
from tag2box.data import Dataset, DatasetImage
from tag2box.evaluation import Verdict, corloc_by_class, macro_mean, match_voc
from tag2box.experiments.bench.figures_of_merit import macro_corloc
from tag2box.experiments.bench.tasks import Pool, Trial, try_method
from tag2box.experiments.colocalization import METHODS, at_best_regions, draw_tasks, outcomes
from tag2box.methods.floors import Floor, objectness, random_region, whole_image
from tag2box.methods.localizers import NO_BACKGROUND, SceneMil, VmfMil
from tag2box.methods.spread import Spread
from tag2box.store import FeatureStore, StoreHeader, StoreWriter
from tag2box.types import Episode, ProposalBag, TaggedImage, Truth
from tag2box.worlds import World, plant_task


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Pool, list[Episode]]:
    task = plant_task(World(), seed=1, ways=3, shots=12, queries=1)
    folder = tmp_path_factory.mktemp("tasks") / "store"
    with StoreWriter(folder, StoreHeader("planted", World().dimension)) as writer:
        for image in task.support:
            writer.append(image.bag)
    known = tuple(DatasetImage(Path("x"), 1, 1, image.truth) for image in task.support)
    dataset = Dataset(task.classes, known)
    return Pool.of(FeatureStore(folder), dataset), draw_tasks(dataset, 5, 20, seed=0)


def test_the_oracle_sets_the_limit_and_em_beats_the_floors(planted: tuple[Pool, list[Episode]]) -> None:
    reports: list[int] = []
    found = outcomes(
        *planted, SceneMil(paper_method(World()), 0.0, 0.0, 0.0), lambda done, figures: reports.append(done)
    )
    assert reports == list(range(1, METHODS * len(planted[1]) + 1))
    query = {name: interval.value for name, (_, interval) in found.items()}
    assert query["oracle direction"] >= query["vMF-MIL"] > 0.9
    assert query["whole image"] < 0.2
    assert query["start without EM"] <= query["vMF-MIL"]
    assert set(query) == {"vMF-MIL", "start without EM", "oracle direction", "top objectness", "whole image"}


def test_a_task_has_its_query_apart(planted: tuple[Pool, list[Episode]]) -> None:
    pool, episodes = planted
    for episode in episodes:
        label, query = episode.classes[0], episode.queries[0]
        assert len(episode.positives(label)) == 5
        assert query not in episode.positives(label)
        assert label in pool.truths[query].labels


def test_macro_means_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(0)
    labels = rng.choice(["a", "b", "b", "b"], size=40).tolist()
    hits = [tuple((rng.random(3) < 0.4).tolist()) for _ in labels]
    everything = macro_corloc(labels, range(40), hits, 40)(np.arange(40))
    spread = [hit for trial in hits for hit in trial]
    names = [label for label in labels for _ in range(3)]
    assert everything == pytest.approx(macro_mean(corloc_by_class(spread, names)))
    places = rng.integers(0, 40, size=40)
    drawn = [hit for place in places for hit in hits[place]]
    drawn_names = [labels[place] for place in places for _ in range(3)]
    again = macro_corloc(labels, range(40), hits, 40)(places)
    assert again == pytest.approx(macro_mean(corloc_by_class(drawn, drawn_names)))


def trial_of(floor: Floor) -> Trial:
    boxes = [[0, 0, 10, 10], [0, 0, 4, 4], [5, 5, 9, 9]]
    truths = {name: Truth.plain(name, [[5, 5, 9, 9]], ["cat"]) for name in "abc"}
    bags = {name: ProposalBag.from_raw(name, boxes, np.eye(3), [0.2, 0.3, 0.9]) for name in "abc"}
    support = (TaggedImage("a", ("cat",)), TaggedImage("b", ("cat",)))
    (trial,) = try_method(
        floor, Episode(0, 7, ("cat",), support, (), ("c",)), Pool(bags.__getitem__, truths), match_voc
    )
    return trial


def test_the_floors_by_hand() -> None:
    whole, top = trial_of(Floor(whole_image)), trial_of(Floor(objectness))
    assert (whole.task, whole.label, whole.support, whole.query) == (7, "cat", (False, False), (Verdict.group,))
    assert (top.support, top.query) == ((True, True), (Verdict.right,))
    assert top.matches.hits.tolist() == [True, False, False]
    assert (top.matches.truths, whole.matches.hits.tolist()) == (1, [False, False, True])
    assert trial_of(Floor(random_region)).support == trial_of(Floor(random_region)).support


def test_the_oracle_points_at_the_mean_of_the_best_regions(planted: tuple[Pool, list[Episode]]) -> None:
    """Slowly: the region of each support image that overlaps an object of the class most, seen from the middle."""
    pool, episodes = planted
    center = np.full(World().dimension, 0.02)
    blind = SceneMil(VmfMil(10.0, NO_BACKGROUND, center=center), 0.0, 0.0, 0.0)
    for episode in episodes[:5]:
        (label,), best = episode.classes, []
        for image in episode.positives(label):
            bag, objects = pool.bag(image), pool.truths[image].of_class(label).boxes
            reach = [max(box_overlaps(box[None], objects)[0]) for box in bag.boxes]
            best.append(unit(bag.features[int(np.argmax(reach))].astype(np.float64) - center))
        bags = [pool.bag(image) for image in episode.positives(label)]
        oracle = at_best_regions(blind, episode, pool)
        found = oracle.learn(bags, [], np.random.default_rng(0))
        np.testing.assert_allclose(found.foreground.theta, unit(np.mean(best, axis=0)), atol=1e-6)
        assert len(found.steps) == 1  # it knows the answer, and learns nothing


def test_the_oracle_works_in_the_space_of_its_localizer(planted: tuple[Pool, list[Episode]]) -> None:
    pool, (episode, *_) = planted
    d = World().dimension
    whitening = Spread(np.full(d, 0.01), np.diag(np.linspace(0.1, 2.0, d))).whitening(None)
    (label,), best = episode.classes, []
    for image in episode.positives(label):
        bag, objects = pool.bag(image), pool.truths[image].of_class(label).boxes
        reach = [max(box_overlaps(box[None], objects)[0]) for box in bag.boxes]
        best.append(whitening.bag(bag).features[int(np.argmax(reach))].astype(np.float64))
    localizer = SceneMil(VmfMil(10.0, NO_BACKGROUND, space=whitening), 2.0, 2.0, 2.0)
    bags = [pool.bag(image) for image in episode.positives(label)]
    found = at_best_regions(localizer, episode, pool).learn(bags, [], np.random.default_rng(0))
    np.testing.assert_allclose(found.foreground.theta, unit(np.mean(best, axis=0)), atol=1e-6)


def test_a_class_with_too_few_images_for_a_query_is_not_asked_for() -> None:
    kinds = ["a"] * 6 + ["b"] * 5 + ["c"] * 30
    truths = [Truth.plain(str(n), [[0, 0, 5, 5]], [kind]) for n, kind in enumerate(kinds)]
    dataset = Dataset(("a", "b", "c"), tuple(DatasetImage(Path("x"), 9, 9, truth) for truth in truths))
    asked = [episode.classes[0] for episode in draw_tasks(dataset, 5, 200, seed=0)]
    assert set(asked) == {"a", "c"}
    assert 0.4 < asked.count("a") / 200 < 0.6  # by class, not by images

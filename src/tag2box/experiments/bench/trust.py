"""How far to trust what is found: signs are collected in tasks, learned from on base classes, and judged on novel ones.

B = support photos of a task, q = its query photos, f = regions beside the boxes, n = all of some kind in all tasks
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from tag2box.arrays import Array, Bools, Ints
from tag2box.boxes import box_coverage, suppress_overlaps
from tag2box.data import Dataset, EpisodeSampler, classes_uniformly, pool_of
from tag2box.evaluation import is_correct
from tag2box.experiments.bench.tasks import Pool
from tag2box.experiments.bench.workbench import Workbench
from tag2box.methods.calibration import SUSPECT, Calibration, Judge, Reach, reach
from tag2box.methods.detectors import MAX_OVERLAP, LikenessDetector, LikenessLearner
from tag2box.methods.signs import best_region, read_signs
from tag2box.model import Settings, users_learner
from tag2box.progress import Progress, Report
from tag2box.types import Episode, ProposalBag, TaggedImage, Truth

SHOTS = (3, 5, 10, 20)
WRONG_TAGS = 0.1
"""Share of the support photos that do not show the class."""
WITHOUT, STRANGERS = 8, 4
"""Photos without the class that teach, and that are asked, beside the one that shows it."""
MOST_FURTHER = 4
"""Regions of a support photo that are asked whether they show a further thing."""
FRONT = 0.2
"""Share of the boxes, the most doubtful ones, that a person may look at."""


@final
@dataclass(frozen=True, eq=False)
class TrustTrial:
    """What was seen in one task, and what was true."""

    wrong_signs: Array
    """(B, k)"""
    wrong: Bools
    """(B,), whether the box of a support photo is not on the thing"""
    absent_signs: Array
    """(B, k)"""
    absent: Bools
    """(B,), whether the tag was wrong"""
    support_scores: Array
    """(B,), best scores of photos that were left out"""
    support_likenesses: Array
    """(B,), likeness of the regions that have them"""
    other_likenesses: Array
    """(w,), the same of photos that are known not to show the class"""
    query_scores: Array
    """(q,), best scores of new photos: one of five shows the class"""
    query_likenesses: Array
    """(q,), likeness of the regions that have them"""
    query_hits: Bools
    """(q,), whether the best region of a new photo is right"""
    query_shows: Bools
    """(q,)"""
    further_places: Ints
    """(f,), which support photo a region is of that may show a further thing"""
    further_scores: Array
    """(f,)"""
    further_likenesses: Array
    """(f,)"""
    further_right: Bools
    """(f,), whether it does"""

    @cached_property
    def score_reach(self) -> Reach:
        """What the threshold of the score depends on."""
        return reach(self.support_scores)

    @cached_property
    def likeness_reach(self) -> Reach:
        """What the threshold of likeness depends on."""
        return reach(self.support_likenesses, self.other_likenesses)


def draw_doubtful_tasks(dataset: Dataset, tasks: int, seed: int) -> list[Episode]:
    """Tasks of several sizes, in which some support photos are replaced by ones that do not show the class."""
    episodes = []
    for shots in SHOTS:
        pool = pool_of(dataset, shots + 1)
        if not pool.classes:
            continue  # no class has so many photos
        sampler = EpisodeSampler(pool, 1, shots, seed, shots + WITHOUT + STRANGERS, draw_classes=classes_uniformly)
        episodes += [_with_wrong_tags(episode) for episode in sampler.episodes(tasks)]
    return episodes


def _with_wrong_tags(episode: Episode) -> Episode:
    """The last negatives stay such; as many as there are support photos may take the place of one."""
    rng = np.random.default_rng([episode.seed, episode.index, len(episode.support)])
    replaced = rng.random(len(episode.support)) < WRONG_TAGS
    support = tuple(
        TaggedImage(other, image.tags) if swap else image
        for image, other, swap in zip(episode.support, episode.negatives, replaced, strict=False)
    )
    return replace(episode, support=support, negatives=episode.negatives[-WITHOUT - STRANGERS :])


def trust_trials(
    bench: Workbench, datasets: Sequence[str], settings: Settings, tasks: int, seed: int, progress: Progress
) -> list[TrustTrial]:
    """A trial for each task of some datasets, with the learner that users get."""
    learner = users_learner(bench.knowledge(), settings)
    trials = []
    for dataset in datasets:
        episodes = draw_doubtful_tasks(bench.load(dataset), tasks, seed)
        with progress(f"Tasks of {dataset}", len(episodes)) as report:
            trials += collect_trust(bench.pool(dataset), episodes, learner, report)
    return trials


def collect_trust(
    pool: Pool, episodes: Sequence[Episode], learner: LikenessLearner, report: Report
) -> list[TrustTrial]:
    """A trial for each task."""
    trials = []
    for done, episode in enumerate(episodes, 1):
        trials.append(_trust_trial(learner, episode, pool))
        report(done, {})
    return trials


def _trust_trial(learner: LikenessLearner, episode: Episode, pool: Pool) -> TrustTrial:
    (label,) = episode.classes
    support, queries = [image.image_id for image in episode.support], [*episode.queries, *episode.negatives[WITHOUT:]]
    bags, without = ([pool.bag(image) for image in some] for some in (support, episode.negatives[:WITHOUT]))
    learned = learner.learn(bags, without, np.random.default_rng([episode.seed, episode.index]))
    signs = read_signs(learned, bags)
    found = [best_region(learned.head, pool.bag(image)) for image in queries]
    shows = [label in pool.truths[image].labels.tolist() for image in (*support, *queries)]
    rows = [*learned.localization.rows.tolist(), *(best.row for best in found)]
    right = [
        is_correct(pool.bag(image).boxes[row], pool.truths[image], label)
        for image, row in zip((*support, *queries), rows, strict=True)
    ]
    return TrustTrial(
        signs.wrong,
        ~np.array(right[: len(support)]),
        signs.absent,
        ~np.array(shows[: len(support)]),
        signs.scores,
        signs.likenesses,
        np.array([best_region(learned.head, bag).likeness for bag in without]),
        np.array([best.score for best in found]),
        np.array([best.likeness for best in found]),
        np.array(right[len(support) :]),
        np.array(shows[len(support) :]),
        *_further(learned, bags, [pool.truths[image] for image in support], label),
    )


def _further(
    learned: LikenessDetector, bags: Sequence[ProposalBag], truths: Sequence[Truth], label: str
) -> tuple[Ints, Array, Array, Bools]:
    """Regions of support photos beside the box of each, the best ones: which photo, score, likeness, and if right."""
    places, scores, likenesses, right = [], [], [], []
    for place, (bag, own) in enumerate(zip(bags, learned.localization.rows.tolist(), strict=True)):
        likeness = learned.head.likeness(bag)[:, 0]  # (n,)
        score = learned.head.scored(bag, likeness)  # (n,)
        best = suppress_overlaps(bag.boxes, score, MAX_OVERLAP, MOST_FURTHER + 1)
        mine = bag.boxes[[own]]  # (1, 4)
        covered = np.maximum(box_coverage(bag.boxes, mine)[:, 0], box_coverage(mine, bag.boxes)[0])  # (n,)
        for row in [row for row in best.tolist() if covered[row] < MAX_OVERLAP][:MOST_FURTHER]:
            places.append(place)
            scores.append(score[row])
            likenesses.append(likeness[row])
            right.append(is_correct(bag.boxes[row], truths[place], label))
    return np.array(places, np.int64), np.array(scores), np.array(likenesses), np.array(right, np.bool_)


@final
@dataclass(frozen=True)
class FoundAtThreshold:
    """The best regions of new photos that reach their class's threshold."""

    right: int
    wrong: int
    missed: int
    """Photos that show the class where no right region was found"""
    alarms: float
    """Share of the photos without the class in which something counts as found"""

    @property
    def recall(self) -> float:
        """Share of the photos that show the class in which it was found."""
        return self.right / max(self.right + self.missed, 1)

    @property
    def precision(self) -> float:
        """Share of what counts as found that is right."""
        return self.right / max(self.right + self.wrong, 1)


def found_at_threshold(trials: Sequence[TrustTrial], calibration: Calibration) -> FoundAtThreshold:
    """What a person who keeps the default threshold would see."""
    counts = [len(trial.query_scores) for trial in trials]
    scores, likenesses = thresholds_of(trials, calibration)
    found = all_of(trials, "query_scores") >= np.repeat(scores, counts)
    found &= all_of(trials, "query_likenesses") >= np.repeat(likenesses, counts)
    hits, shows = all_of(trials, "query_hits").astype(bool), all_of(trials, "query_shows").astype(bool)
    right, wrong, missed = (int(some.sum()) for some in (found & hits, found & ~hits, shows & ~(found & hits)))
    return FoundAtThreshold(right, wrong, missed, float(found[~shows].mean()) if (~shows).any() else 0.0)


def thresholds_of(trials: Sequence[TrustTrial], calibration: Calibration) -> tuple[Array, Array]:
    """The thresholds of the class of each trial: of the score, and of likeness."""
    scores, likenesses = (
        np.array([getattr(trial, f"{kind}_reach") for trial in trials]).T for kind in ("score", "likeness")
    )
    return calibration.score.at(*scores), calibration.likeness.at(*likenesses)


def share_in_front(chances: Array, happened: Bools, front: float) -> float:
    """Of all that happened, how much is among the ``front`` share with the highest chances; ties go by place."""
    first = np.argsort(-chances, kind="stable")[: round(front * len(chances))]
    return float(happened[first].sum() / max(happened.sum(), 1))


def reliability(chances: Array, happened: Bools, bins: int = 10) -> tuple[Array, Array, Ints]:
    """Mean chance, share that happened, and count, in bins of equal chance; empty bins are left out."""
    places = np.minimum((chances * bins).astype(np.int64), bins - 1)
    counts = np.bincount(places, minlength=bins)
    filled = counts > 0
    means, shares = (np.bincount(places, values, bins)[filled] / counts[filled] for values in (chances, happened))
    return means, shares, counts[filled]


def judged(trials: Sequence[TrustTrial], judge: Judge, kind: str) -> tuple[Array, Bools]:
    """What a judge says of every support photo (n,), and what was true (n,), for ``wrong`` or ``absent``."""
    return judge(all_of(trials, f"{kind}_signs")), all_of(trials, kind).astype(np.bool_)


@final
@dataclass(frozen=True)
class TrustFigures:
    """What a calibration is worth: shares of the support photos of all tasks, and what was found in new photos."""

    boxes: int
    tasks: int
    wrong: float
    """Boxes that are wrong"""
    doubt: float
    """Mean doubt in a box"""
    wrong_in_front: float
    """Of the wrong boxes, those among the most doubtful"""
    absent: float
    """Tags that are wrong"""
    absent_in_front: float
    named: float
    """Tags that are suspected"""
    named_rightly: float
    """Of these, the wrong ones; 0 if there are none"""
    found: FoundAtThreshold


def trust_figures(trials: Sequence[TrustTrial], calibration: Calibration) -> TrustFigures:
    """Judge a calibration, which names the tags that it takes for wrong."""
    doubts, wrong = judged(trials, calibration.wrong, "wrong")
    absences, absent = judged(trials, calibration.absent, "absent")
    named = absences >= SUSPECT
    return TrustFigures(
        len(doubts),
        len(trials),
        float(wrong.mean()),
        float(doubts.mean()),
        share_in_front(doubts, wrong, FRONT),
        float(absent.mean()),
        share_in_front(absences, absent, FRONT),
        float(named.mean()),
        float(absent[named].mean()) if named.any() else 0.0,
        found_at_threshold(trials, calibration),
    )


def all_of(trials: Sequence[TrustTrial], name: str) -> Array:
    """What all trials say of one thing, one after the other."""
    return np.concatenate([getattr(trial, name) for trial in trials])

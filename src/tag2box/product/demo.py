"""The whole story on a planted world: tags in, boxes out, and a judgement.

C = classes, R = regions of all images
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import final

import numpy as np

from tag2box.boxes import box_overlaps
from tag2box.evaluation import (
    ap_11_points,
    ap_101_points,
    ap_area,
    average_precisions,
    is_correct,
    macro_mean,
    match_coco,
    match_voc,
)
from tag2box.evaluation.matching import MIN_OVERLAP
from tag2box.files import write_json
from tag2box.methods.detectors import CosineHead, fit_cosine_head
from tag2box.methods.localizers import VmfBackground, VmfForeground, VmfMil
from tag2box.methods.localizers.solution import Solution
from tag2box.sphere import fit_vmf
from tag2box.store import FeatureStore, StoreHeader, StoreWriter
from tag2box.types import Localization
from tag2box.viz import EmReplay, draw_em, save_figure
from tag2box.worlds import PlantedImage, PlantedTask, World, plant_background, plant_task

BASE_REGIONS = 10_000
Say = Callable[[str], None]


@final
@dataclass(frozen=True)
class DemoResults:
    """What the demo measured."""

    classes: tuple[str, ...]
    support_images: int
    query_images: int
    localized: int
    """Times that a class was looked for in a support image tagged with it"""
    localized_right: int
    """Times that the chosen region was right"""
    ap50_voc_11_points: float
    ap50_voc_area: float
    ap50_coco_101_points: float


def run_demo(folder: Path, say: Say, *, seed: int = 0, ways: int = 3, shots: int = 5, queries: int = 20) -> DemoResults:
    """Localize, fit, detect and evaluate; leaves a feature store, a picture and the results in ``folder``."""
    world = World(seed=seed)
    say(f"Planting {ways} classes, {shots} tagged images of each and {queries} new images of each.")
    task = _through_store(folder, world, plant_task(world, seed, ways=ways, shots=shots, queries=queries))
    say(f"Fitting the background on {BASE_REGIONS:,} base regions.")
    background = fit_vmf(plant_background(world, BASE_REGIONS))
    say("Localizing: which region do all images of a class share?")
    localizer = VmfMil(background.kappa, VmfBackground(background))
    solutions = {label: _localize(localizer, task, label, seed) for label in task.classes}
    _draw(folder / "em.png", localizer, task, solutions)
    say("Learning a cosine classifier for each class and detecting in the new images.")
    found = {label: solution.localization for label, solution in solutions.items()}
    head = fit_cosine_head([image.bag for image in task.support], [image.tags for image in task.support], found)
    results = _evaluate(task, found, head)
    write_json(folder / "results.json", asdict(results))
    return results


def _through_store(folder: Path, world: World, task: PlantedTask) -> PlantedTask:
    """The task with its regions written to disk and read back, as they are for photos."""
    images = (*task.support, *task.queries)
    named = repr((world, [image.bag.image_id for image in images])) + str(images[0].bag.boxes.tolist())
    fingerprint = hashlib.sha256(named.encode()).hexdigest()[:16]
    path = folder / f"store-{fingerprint}"
    with StoreWriter(path, StoreHeader(fingerprint, world.dimension)) as writer:
        for image in images:
            if image.bag.image_id not in writer:
                writer.append(image.bag)
    store = FeatureStore(path)
    support, queries = (
        tuple(replace(image, bag=store.bag(image.bag.image_id)) for image in part)
        for part in (task.support, task.queries)
    )
    return replace(task, support=support, queries=queries)


def _tagged(task: PlantedTask, label: str) -> list[PlantedImage]:
    return [image for image in task.support if label in image.tags]


def _localize(localizer: VmfMil, task: PlantedTask, label: str, seed: int) -> Solution[VmfForeground]:
    return localizer.solve([image.bag for image in _tagged(task, label)], np.random.default_rng(seed))


def _evaluate(task: PlantedTask, found: dict[str, Localization], head: CosineHead) -> DemoResults:
    correct = [
        is_correct(image.bag.boxes[row], image.truth, label)
        for label in task.classes
        for image, row in zip(_tagged(task, label), found[label].rows, strict=True)
    ]
    pairs = [(head.detect(image.bag), image.truth) for image in task.queries]
    return DemoResults(
        task.classes,
        len(task.support),
        len(task.queries),
        len(correct),
        sum(correct),
        macro_mean(average_precisions(pairs, task.classes, match_voc, ap_11_points)),
        macro_mean(average_precisions(pairs, task.classes, match_voc, ap_area)),
        macro_mean(average_precisions(pairs, task.classes, match_coco, ap_101_points)),
    )


def _draw(path: Path, localizer: VmfMil, task: PlantedTask, solutions: dict[str, Solution[VmfForeground]]) -> None:
    """The first class's EM run as a picture."""
    label, solution = next(iter(solutions.items()))
    images = _tagged(task, label)
    features = np.concatenate([image.bag.features for image in images]).astype(np.float64)  # (R, d)
    right = [
        (box_overlaps(image.bag.boxes, image.truth.of_class(label).boxes) >= MIN_OVERLAP).any(axis=1)
        for image in images
    ]
    replay = EmReplay(
        likeness=[features @ step.foreground.theta for step in solution.steps],
        weights=[step.weights for step in solution.steps],
        likelihoods=[step.likelihood for step in solution.steps],
        background=np.concatenate([localizer.background.log_score(image.bag) for image in images]),
        images=np.repeat(np.arange(len(images)), [len(image.bag) for image in images]),
        right=np.concatenate(right),
    )
    title = (
        f"Regions of {len(images)} images tagged {label!r}, a colour each. Rings: right answers. Squares: whole images"
    )
    save_figure(draw_em(replay, title), path)

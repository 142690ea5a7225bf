"""The training loop. What happens in a step depends on the recipe, the examples and the step's number alone.

B = images of a batch; S = side of the input
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from tag2box.errors import TrainingError
from tag2box.extract import read_card
from tag2box.progress import Report
from tag2box.training.detector.assembly import Detector
from tag2box.training.detector.examples import Examples, draw_example
from tag2box.training.detector.export import take_over
from tag2box.training.detector.network import CPU, Descriptions, Proposals, locations
from tag2box.training.detector.objectives import (
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
from tag2box.training.detector.recipe import Recipe
from tag2box.training.detector.regions import clipped
from tag2box.training.detector.run import CHECKPOINT_NAME, Journal, load_checkpoint, save_checkpoint
from tag2box.training.detector.workers import Workers, joined_workers

LONGEST_GRADIENT = 10.0
OF_NO_STEP = ("checkpoint_every", "projected", "embedding_share")
"""Settings that no step of a training depends on."""
TOP_PROPOSALS, SAMPLED_PROPOSALS = 300, 100
LEAST_LEARNING_RATE = 0.02
"""Of the first one, at the last step."""


class Batch(NamedTuple):
    """What one step learns from."""

    pixels: npt.NDArray[np.uint8]
    """(B, S, S, 3)"""
    objects: list[Objects]

    def on(self, device: torch.device) -> Batch:
        """The same, with the objects where they are computed with."""
        return Batch(self.pixels, [objects.on(device) for objects in self.objects])


def train_detector(
    folder: Path,
    recipe: Recipe,
    examples: Examples,
    report: Report,
    device: torch.device = CPU,
    begin_with: Path | None = None,
) -> Detector:
    """The trained detector; the run lives in ``folder`` and goes on there after an interruption, on any device.

    ``begin_with`` is the folder of a model whose weights it begins with; its backbone is still drawn to where that of
    the recipe began.
    """
    with device if device != CPU else nullcontext():  # whatever is made on the way is made there
        return _train(folder, recipe, examples, report, device, begin_with).to(CPU).eval()


def _train(
    folder: Path, recipe: Recipe, examples: Examples, report: Report, device: torch.device, begin_with: Path | None
) -> Detector:
    detector = Detector(recipe, len(examples.classes))
    beginning = [weights.detach().clone() for weights in detector.learned_backbone]
    if begin_with is not None:
        take_over(detector, examples.classes, begin_with)
    optimizer = _optimizer(detector, recipe)
    checkpoint, identity = folder / CHECKPOINT_NAME, run_identity(recipe, examples, begin_with)
    done = load_checkpoint(checkpoint, detector, optimizer, identity)
    with joined_workers() as workers, Journal(folder, done, writes=workers.writes) as journal:
        start = time.monotonic()
        for step, batch in batches(examples, recipe, workers, done):
            _set_learning_rates(optimizer, recipe, step)
            losses = _step(detector, optimizer, batch.on(device), recipe, step, workers)
            _pull_back(detector, beginning, optimizer.param_groups[-1]["lr"] * recipe.backbone_pull)
            journal.write(step, losses, time.monotonic() - start)
            finished = step + 1
            if workers.writes and (finished % recipe.checkpoint_every == 0 or finished == recipe.steps):
                save_checkpoint(checkpoint, detector, optimizer, identity, finished)
            report(finished, losses)
    return detector


def run_identity(recipe: Recipe, examples: Examples, begin_with: Path | None = None) -> str:
    """A hash of all that decides what a step does."""
    photos = [
        [item.path.name, item.boxes.tolist(), item.labels.tolist(), item.ignored.tolist(), item.complete]
        for item in examples.items
    ]
    began = [] if begin_with is None else [read_card(begin_with).hashes]
    known = json.dumps([recipe.to_json() | dict.fromkeys(OF_NO_STEP, 0), examples.classes, photos, *began])
    return hashlib.sha256(known.encode()).hexdigest()


def batches(examples: Examples, recipe: Recipe, workers: Workers, first: int) -> Iterator[tuple[int, Batch]]:
    """The batches of this process from step ``first`` on, the next one being loaded while one is learned from."""
    rows = epoch_rows(examples, recipe)
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(_batch, examples, rows, recipe, workers, first)
        for step in range(first, recipe.steps):
            batch = following.result()
            if step + 1 < recipe.steps:
                following = pool.submit(_batch, examples, rows, recipe, workers, step + 1)
            yield step, batch


def epoch_rows(examples: Examples, recipe: Recipe) -> npt.NDArray[np.int64]:
    """The examples of an epoch, some of them several times."""
    times = [recipe.complete_repeats if item.complete else 1 for item in examples.items]
    return np.repeat(np.arange(len(examples)), times)


def drawn_rows(epoch_rows: npt.NDArray[np.int64], recipe: Recipe, workers: Workers, step: int) -> npt.NDArray[np.int64]:
    """Which examples this process sees in a step: every epoch is a new order of all of them."""
    together = recipe.batch * workers.count
    places = np.arange(step * together, (step + 1) * together)[workers.rank :: workers.count]
    epochs, rows = np.divmod(places, len(epoch_rows))
    orders = {epoch: np.random.default_rng([recipe.seed, epoch]).permutation(epoch_rows) for epoch in np.unique(epochs)}
    return np.array([orders[epoch][row] for epoch, row in zip(epochs, rows, strict=True)], dtype=np.int64)


def _batch(examples: Examples, rows: npt.NDArray[np.int64], recipe: Recipe, workers: Workers, step: int) -> Batch:
    drawn = []
    for place, row in enumerate(drawn_rows(rows, recipe, workers, step)):
        rng = np.random.default_rng([recipe.seed, 1, step, workers.rank, place])
        drawn.append(draw_example(examples.items[row], recipe, rng))
    return Batch(np.stack([pixels for pixels, _ in drawn]), [objects for _, objects in drawn])


def _optimizer(detector: Detector, recipe: Recipe) -> torch.optim.Optimizer:
    groups = [{"params": list(detector.heads.parameters()), "lr": recipe.learning_rate}]
    if detector.learned_backbone:
        # it decays towards where it began, not towards nothing
        groups.append({"params": detector.learned_backbone, "lr": recipe.backbone_learning_rate, "weight_decay": 0.0})
    return torch.optim.AdamW(groups, weight_decay=recipe.weight_decay)


def _set_learning_rates(optimizer: torch.optim.Optimizer, recipe: Recipe, step: int) -> None:
    """A short rise, then half a cosine down to a fiftieth."""
    rise = min(1.0, (step + 1) / recipe.warm_up) if recipe.warm_up else 1.0
    fall = 0.5 * (1.0 + math.cos(math.pi * step / recipe.steps))
    factor = rise * (LEAST_LEARNING_RATE + (1.0 - LEAST_LEARNING_RATE) * fall)
    rates = (recipe.learning_rate, recipe.backbone_learning_rate)
    for group, rate in zip(optimizer.param_groups, rates, strict=False):
        group["lr"] = rate * factor


def _step(
    detector: Detector, optimizer: torch.optim.Optimizer, batch: Batch, recipe: Recipe, step: int, workers: Workers
) -> dict[str, float]:
    seeds = np.random.SeedSequence([recipe.seed, 2, step, workers.rank])
    generator = torch.Generator(torch.get_default_device()).manual_seed(int(seeds.generate_state(1)[0]))
    losses = batch_losses(detector, batch, recipe, generator)
    optimizer.zero_grad()
    total = torch.stack(list(losses.values())).sum()
    if not total.isfinite():
        raise TrainingError(
            f"the loss of step {step} is not a number.", "losses that fall", "lower learning_rate and run again."
        )
    total.backward()  # type: ignore[no-untyped-call]
    workers.average_gradients(detector)
    nn.utils.clip_grad_norm_(detector.parameters(), LONGEST_GRADIENT)
    optimizer.step()
    return {"total": float(total.detach())} | {name: float(value.detach()) for name, value in losses.items()}


@torch.no_grad()
def _pull_back(detector: Detector, beginning: list[Tensor], share: float) -> None:
    """Take back a share of the way that the backbone has gone."""
    for weights, began in zip(detector.learned_backbone, beginning, strict=True):
        weights.lerp_(began, min(share, 1.0))


def batch_losses(detector: Detector, batch: Batch, recipe: Recipe, generator: torch.Generator) -> dict[str, Tensor]:
    """The five losses of a batch, each a mean."""
    maps = detector.maps(batch.pixels)
    proposals, region_maps = detector.heads(maps)
    losses = _first_losses(proposals, batch.objects, recipe.image_size)
    classes = len(detector.heads.second.class_directions) - 1
    said, samples = [], []
    for number, objects in enumerate(batch.objects):
        if len(objects.boxes) == 0:
            continue
        proposed = _some_proposals(proposals, number, objects, recipe.image_size, generator)
        candidates = candidate_regions(proposed, objects, generator)
        sample = sample_regions(candidates, objects, classes, recipe.regions, generator)
        own_maps = (maps[0][number], maps[1][number], maps[2][number])
        said.append(detector.heads.second(region_maps[number], own_maps, sample.boxes))
        samples.append(sample)
    if samples:
        joined = Descriptions(*(torch.cat(parts) for parts in zip(*said, strict=True)))
        losses |= second_stage_losses(joined, Sample(*(torch.cat(parts) for parts in zip(*samples, strict=True))))
    return losses


def _first_losses(proposals: Proposals, objects: list[Objects], side: int) -> dict[str, Tensor]:
    places, levels = locations(side, proposals.boxes.device)
    of_boxes = of_quality = proposals.boxes.sum() * 0.0
    answered = 0
    for boxes, quality, known in zip(proposals.boxes, proposals.quality, objects, strict=True):
        answers = answering(places, levels, known.boxes)
        of_boxes = of_boxes + box_loss(boxes, answers, known)
        of_quality = of_quality + quality_loss(boxes, quality, places, answers, known)
        answered += int((answers >= 0).sum())
    return {"first box": of_boxes / max(answered, 1), "first quality": of_quality / max(answered, 1)}


@torch.no_grad()
def _some_proposals(
    proposals: Proposals, number: int, objects: Objects, side: int, generator: torch.Generator
) -> Tensor:
    """A random part of the best proposals inside the photo."""
    places, _ = locations(side, proposals.boxes.device)
    inside = torch.nonzero((places[:, 0] < objects.width) & (places[:, 1] < objects.height))[:, 0]
    best = inside[proposals.quality[number, inside].topk(min(TOP_PROPOSALS, len(inside))).indices]
    chosen = best[torch.randperm(len(best), generator=generator)[:SAMPLED_PROPOSALS]]
    return clipped(proposals.boxes[number, chosen], objects.height, objects.width, SMALLEST)

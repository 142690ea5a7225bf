"""All classes of a cosine head learned together, against one class after the other.

Checks first that both give the same classifiers, then measures both in turn and prints the ratio of the medians.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from measuring import Finding, compare
from tag2box.methods.detectors import CosineHead, fit_cosine_head, fit_few_shot
from tag2box.methods.localizers import VmfBackground, VmfMil
from tag2box.sphere import fit_vmf
from tag2box.types import Localization, ProposalBag
from tag2box.worlds import World, plant_background, plant_task

SAME = 1e-9

Task = tuple[list[ProposalBag], list[tuple[str, ...]], dict[str, Localization]]


def plant(ways: int, shots: int, dimension: int) -> Task:
    """Localized support images of a planted task with about 300 regions an image."""
    world = World(dimension=dimension, classes=ways, regions=(270, 300))
    task = plant_task(world, 0, ways=ways, shots=shots)
    background = fit_vmf(plant_background(world, 5000))
    bags, tags = [image.bag for image in task.support], [image.tags for image in task.support]
    localizer = VmfMil(background.kappa, VmfBackground(background))
    fit = fit_few_shot(bags, tags, task.classes, localizer, np.random.default_rng(0))
    return bags, tags, fit.localizations


def together(task: Task) -> list[CosineHead]:
    """One optimisation for all classes."""
    return [fit_cosine_head(*task)]


def one_by_one(task: Task) -> list[CosineHead]:
    """One optimisation for each class."""
    bags, tags, localizations = task
    return [fit_cosine_head(bags, tags, {label: found}) for label, found in localizations.items()]


def findings(runs: int, ways: int = 20, shots: int = 5, dimension: int = 512) -> Iterator[Finding]:
    """Compare answers, then times."""
    task = plant(ways, shots, dimension)
    first, second = (np.concatenate([head.directions for head in work(task)]) for work in (together, one_by_one))
    apart = float((1.0 - (first * second).sum(axis=1)).max())
    if apart > SAME:
        raise SystemExit(f"the answers differ: 1 - cosine is up to {apart:.2g}")
    claim = f"the cosine head of {ways} classes together, against one by one"
    remark = f"{sum(map(len, task[0])):,} regions, d = {dimension}"
    yield compare(claim, lambda: together(task), lambda: one_by_one(task), runs, remark)


def main() -> None:
    """Print what is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ways", type=int, default=20)
    parser.add_argument("--shots", type=int, default=5)
    parser.add_argument("--dimension", type=int, default=512)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    for found in findings(given.runs, given.ways, given.shots, given.dimension):
        print(found, flush=True)


if __name__ == "__main__":
    main()

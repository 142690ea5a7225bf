"""Fewer dimensions for the averages under regions: those in which regions of base photos differ most from nothing.

Averages of a backbone have many dimensions, and a store has to keep them all. The projection onto the leading
directions of their second moments keeps lengths and cosines as well as a linear map to so few dimensions can.

n = regions, c = channels of the averages
"""

from __future__ import annotations

from itertools import islice

import torch
from torch import Tensor
from torch.nn import functional

from tag2box.progress import Report
from tag2box.training.detector.assembly import Detector
from tag2box.training.detector.examples import Examples
from tag2box.training.detector.loop import batches
from tag2box.training.detector.objectives import candidate_regions
from tag2box.training.detector.recipe import Recipe
from tag2box.training.detector.workers import Workers

BATCHES = 60
"""Of photos whose regions are looked at."""


@torch.no_grad()
def fit_projection(detector: Detector, recipe: Recipe, examples: Examples, report: Report) -> None:
    """Give the detector the projection that keeps most of the averages under regions of photos that it learned from."""
    second = detector.heads.second
    moments = torch.zeros(second.pooled_width, second.pooled_width, dtype=torch.float64)
    generator = torch.Generator().manual_seed(recipe.seed)
    some = islice(batches(examples, recipe, Workers(0, 1), 0), BATCHES)
    for done, (_, batch) in enumerate(some, 1):
        maps = detector.maps(batch.pixels)
        for number, objects in enumerate(batch.objects):
            regions = candidate_regions(torch.zeros(0, 4), objects, generator)
            own_maps = (maps[0][number], maps[1][number], maps[2][number])
            moments += second_moments(second.averages(own_maps, regions))
        report(done, {})
    second.project(leading_directions(moments, recipe.projected))


def second_moments(averages: Tensor) -> Tensor:
    """(c, c) of averages (n, c), each at length 1."""
    unit = functional.normalize(averages.double())
    return unit.T @ unit


def leading_directions(moments: Tensor, count: int) -> Tensor:
    """(count, c), the directions along which most is, most first; the sign is that of the largest entry."""
    _, directions = torch.linalg.eigh(moments)
    leading = directions.T.flip(0)[:count]
    largest = leading.gather(1, leading.abs().argmax(1, keepdim=True))
    return (leading * largest.sign()).float()

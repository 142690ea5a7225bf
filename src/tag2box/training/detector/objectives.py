"""What the two stages learn from: which location answers for which object, which regions are looked at, the losses.

L = locations; t = objects of one image; n = sampled regions of one image
"""

from __future__ import annotations

from typing import NamedTuple, final

import torch
from torch import Tensor
from torch.nn import functional

from tag2box.extract.proposals import STRIDES
from tag2box.training.detector.network import Descriptions
from tag2box.training.detector.regions import (
    areas,
    clipped,
    corrections,
    overlaps,
    paired_overlaps,
)

LEVEL_SIZES = ((0.0, 40.0), (40.0, 80.0), (80.0, 160.0), (160.0, float("inf")))
"""Sizes (root of the area) of the objects that each level answers for; neighbours share a margin."""
MARGIN = 1.25
NEAR_CENTER = 1.5
"""Only locations within so many strides of an object's centre answer for it."""
SMALLEST = 4.0
"""Smaller objects (and regions), in pixels of the network's input, are left out."""
IS_OBJECT, IS_NOT = 0.5, 0.4
"""Overlaps from which a region counts as its object, and below which it counts as none."""
IS_ELSEWHERE = 0.3
"""Below this overlap with every object, a proposed box is a bad one, if all objects of the photo are labelled."""
WORTH_JUDGING = 0.2
"""In other photos quality is learned from regions that overlap an object at least so much: whatever else is there may
be an object that nobody labelled, and is not called bad.
"""
NO_CLASS = -100


class Objects(NamedTuple):
    """The labelled objects of one image, in pixels of the network's input, and the size of the photo there."""

    boxes: Tensor
    """(t, 4)"""
    labels: Tensor
    """(t,)"""
    ignored: Tensor
    """Crowds and other boxes that count neither as object nor as background"""
    height: int
    width: int
    complete: bool
    """Whether the photo is known to show no object but these"""

    def on(self, device: torch.device) -> Objects:
        """The same where it is computed with."""
        boxes, labels, ignored = (part.to(device) for part in (self.boxes, self.labels, self.ignored))
        return self._replace(boxes=boxes, labels=labels, ignored=ignored)


@final
class Sample(NamedTuple):
    """Regions of one image that the second stage learns from."""

    boxes: Tensor
    """(n, 4)"""
    labels: Tensor
    """(n,): class, ``classes`` for none, ``NO_CLASS`` for undecided: only a photo whose objects are all labelled tells
    what is none"""
    targets: Tensor
    """(n, 4): box of the object that each overlaps most"""
    overlaps: Tensor
    """(n,): with that object"""
    judged: Tensor
    """(n,): whether their quality is known"""


def answering(places: Tensor, levels: Tensor, boxes: Tensor) -> Tensor:
    """For each location the object that it answers for, the smallest if several; -1 for none."""
    if len(boxes) == 0:
        return torch.full((len(places),), -1)
    strides = torch.tensor(STRIDES)[levels][:, None]  # (L, 1)
    centers = (boxes[:, :2] + boxes[:, 2:]) / 2
    distances = torch.cat([places[:, None] - boxes[:, :2], boxes[:, 2:] - places[:, None]], dim=-1)  # (L, t, 4)
    inside = distances.amin(-1) > 0
    near = ((places[:, None] - centers).abs() < NEAR_CENTER * strides[..., None]).all(-1)
    sizes, limits = areas(boxes).sqrt(), torch.tensor(LEVEL_SIZES)[levels]
    fits = (sizes >= limits[:, :1] / MARGIN) & (sizes <= limits[:, 1:] * MARGIN)
    candidates = torch.where(inside & near & fits, areas(boxes), torch.inf)  # (L, t)
    smallest, chosen = candidates.min(1)
    return torch.where(smallest.isfinite(), chosen, -1)  # (L,)


def box_loss(boxes: Tensor, answers: Tensor, objects: Objects) -> Tensor:
    """Summed loss (12.1) of the boxes of the locations that answer for an object."""
    at = torch.nonzero(answers >= 0)[:, 0]
    _, generalised = paired_overlaps(boxes[at], objects.boxes[answers[at]])
    return (1.0 - generalised).sum()


def quality_loss(boxes: Tensor, quality: Tensor, places: Tensor, answers: Tensor, objects: Objects) -> Tensor:
    """Summed loss (12.2) of the qualities at locations that answer, or whose box is an object's; and elsewhere.

    Elsewhere counts in complete photos only, where a box on nothing is known to be one.
    """
    cut = clipped(boxes.detach(), objects.height, objects.width, SMALLEST)
    overlap = _most_overlap(cut, objects.boxes)
    good = (answers >= 0) | (overlap >= IS_OBJECT)
    weights = good.to(quality.dtype)
    if objects.complete:
        on_photo = (places < torch.tensor([objects.width, objects.height])).all(1)
        elsewhere = on_photo & ~good & (torch.maximum(overlap, _most_overlap(cut, objects.ignored)) < IS_ELSEWHERE)
        weights = torch.where(elsewhere, torch.sigmoid(quality.detach()) ** 2, weights)
    wanted = torch.where(good, overlap, 0.0)
    return functional.binary_cross_entropy_with_logits(quality, wanted, weights, reduction="sum")


def candidate_regions(proposed: Tensor, objects: Objects, generator: torch.Generator) -> Tensor:
    """Regions to sample from: the objects, shaken copies of them, proposals, random windows and the whole photo."""
    size = torch.tensor([objects.width, objects.height, objects.width, objects.height], dtype=torch.float32)
    copies = objects.boxes.repeat(4, 1)
    sides = (copies[:, 2:] - copies[:, :2]).repeat(1, 2)
    shaken = copies + 0.12 * sides * torch.randn(copies.shape, generator=generator)
    corners, extents = torch.rand((2, 30, 2), generator=generator)
    windows = torch.cat([0.8 * corners, 0.8 * corners + 0.06 + 0.6 * extents], dim=1) * size
    whole = size * torch.tensor([0.0, 0.0, 1.0, 1.0])
    together = torch.cat([objects.boxes, shaken, proposed, windows, whole[None]])
    return clipped(together, objects.height, objects.width, SMALLEST)


def sample_regions(
    candidates: Tensor, objects: Objects, classes: int, regions: int, generator: torch.Generator
) -> Sample:
    """About a third each of regions on an object, beside one, and elsewhere."""
    best, which = overlaps(candidates, objects.boxes).max(1)
    on, beside = best >= IS_OBJECT, (best >= WORTH_JUDGING) & (best < IS_OBJECT)
    elsewhere = best < WORTH_JUDGING
    if len(objects.ignored):
        clear = on | (overlaps(candidates, objects.ignored).amax(1) < IS_NOT)
        beside, elsewhere = beside & clear, elsewhere & clear
    chosen = torch.cat([_some(group, regions // 3, generator) for group in (on, beside, elsewhere)])
    labels = objects.labels[which[chosen]].clone()
    labels[best[chosen] < IS_OBJECT] = NO_CLASS
    labels[best[chosen] < IS_NOT] = classes if objects.complete else NO_CLASS
    judged = best[chosen] >= (0.0 if objects.complete else WORTH_JUDGING)
    return Sample(candidates[chosen], labels, objects.boxes[which[chosen]], best[chosen], judged)


def second_stage_losses(said: Descriptions, sample: Sample) -> dict[str, Tensor]:
    """Mean losses of class, correction (12.3) and quality (12.2) over the sampled regions of a batch."""
    movable, judged = sample.overlaps >= IS_NOT, sample.judged
    wanted = corrections(sample.boxes[movable], sample.targets[movable])
    return {
        "class": functional.cross_entropy(
            said.class_scores, sample.labels, ignore_index=NO_CLASS, label_smoothing=0.05
        ),
        "correction": _mean(functional.smooth_l1_loss(said.corrections[movable], wanted, reduction="none")),
        "quality": _mean(
            functional.binary_cross_entropy_with_logits(said.quality[judged], sample.overlaps[judged], reduction="none")
        ),
    }


def _some(members: Tensor, most: int, generator: torch.Generator) -> Tensor:
    """At most ``most`` of the members, at random."""
    rows = torch.nonzero(members)[:, 0]
    return rows[torch.randperm(len(rows), generator=generator)[:most]]


def _most_overlap(boxes: Tensor, others: Tensor) -> Tensor:
    """With whichever of the others it is largest; 0 where there are none."""
    return overlaps(boxes, others).amax(1) if len(others) else torch.zeros(len(boxes))  # (n,)


def _mean(losses: Tensor) -> Tensor:
    """Mean; of nothing, 0."""
    return losses.sum() / max(losses.numel(), 1)

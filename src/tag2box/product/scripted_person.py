"""A scripted person, who corrects wrong boxes of tagged photos: what that does to the other photos."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from tag2box.arrays import Array
from tag2box.boxes import box_overlaps
from tag2box.data import Dataset, DatasetImage, Draws
from tag2box.evaluation.matching import MIN_OVERLAP
from tag2box.model import Model
from tag2box.product.finding import Found, PhotoBox, Place, find_classes
from tag2box.product.learning import Region
from tag2box.product.places import Places
from tag2box.product.rehearsal import draw_tagged, is_right
from tag2box.progress import Report
from tag2box.store import FeatureStore

BY_DOUBT, BY_CHANCE = "the most doubtful first", "in any order"
Order = Callable[[Sequence[PhotoBox], int], Sequence[PhotoBox]]
"""Sorts boxes, which come by doubt, as a person looks at them; the number is of the draw."""
ORDERS: Mapping[str, Order] = {
    BY_DOUBT: lambda boxes, draw: boxes,
    BY_CHANCE: lambda boxes, draw: Draws("person", draw, len(boxes)).sample(boxes, len(boxes)),
}


CLICKS, FROM_MIDDLE = 10, 0.3
"""On a thing of which the box is wrong, each within so much of its sides from its middle …"""
FINE = 1001
"""… at one of so many places."""


class Helped(NamedTuple):
    """What became of one draw of tagged photos."""

    right: Array
    """(words + 1,), share of right boxes where nobody said anything, before and after each word"""
    looks: int
    """Boxes that the person looked at"""
    offered: Array
    """For each box that was wrong before the first word: 1 if one of the places that are offered instead is right"""
    clicked: Array
    """The same: share of the clicks on the thing that find it"""


@final
@dataclass(frozen=True)
class ScriptedPerson:
    """Passes right boxes over; for a wrong one, points at the region that covers the thing best."""

    dataset: Dataset
    store: FeatureStore
    model: Model
    words: int
    """How many boxes are corrected, in all photos of all classes together"""

    def help(self, shots: int, draws: int, order: str, report: Report) -> list[Helped]:
        """Tag photos of each class, find, and correct; again and again with other photos."""
        helped = []
        for draw in range(draws):
            helped.append(self._help(draw_tagged(self.dataset, shots, draw), draw, ORDERS[order]))
            report(draw + 1, {})
        return helped

    def _help(self, tagged: Sequence[str], draw: int, order: Order) -> Helped:
        images = {image.image_id: image for image in self.dataset.images}
        tags = {name: images[name].tags for name in tagged}
        said: dict[str, dict[str, Region]] = {}
        found = find_classes(tags, self.store, self.model)
        verdicts, looks = [_verdicts(found, images)], 0
        wrong_boxes = [each for each in found.by_doubt() if not verdicts[0][each.place]]
        pointed = [self._pointed(each, found, images[each.photo], draw) for each in wrong_boxes]
        while len(verdicts) <= self.words:
            unsaid = [each for each in found.by_doubt() if each.photo not in said.get(each.box.label, {})]
            looked_at = order(unsaid, draw)
            wrong = next((i for i, each in enumerate(looked_at) if not verdicts[-1][each.place]), None)
            if wrong is None:
                verdicts.append(verdicts[-1])  # there is nothing left to say
                continue
            looks += wrong + 1
            photo, box = looked_at[wrong]
            said.setdefault(box.label, {})[photo] = self._best_region(images[photo], box.label)
            found = find_classes(tags, self.store, self.model, regions=said, before=found)
            verdicts.append(_verdicts(found, images))
        untouched = [place for place in verdicts[0] if place[0] not in said.get(place[1], {})]
        right = np.array([np.mean([each[place] for place in untouched]) for each in verdicts])
        return Helped(right, looks, *(np.array([each[which] for each in pointed]) for which in (0, 1)))

    def _pointed(self, wrong: PhotoBox, found: Found, image: DatasetImage, draw: int) -> tuple[float, float]:
        """Whether the thing is among the places that are offered, and what share of clicks on it find it."""
        label, here, bag = wrong.box.label, wrong.box.box, self.store.bag(wrong.photo)
        things = image.truth.of_class(label).boxes
        is_thing = box_overlaps(bag.boxes, things).max(axis=1) >= MIN_OVERLAP  # (n,)
        places, chance = Places.of(bag, found.of(label), self.model), Draws("clicks", draw, wrong.photo, label)
        x0, y0, x1, y1 = map(float, things[0])
        hits = []
        for _ in range(CLICKS):
            right, down = (0.5 + FROM_MIDDLE * (2 * chance.below(FINE) / (FINE - 1) - 1) for _ in range(2))
            row = places.around((x0 + right * (x1 - x0), y0 + down * (y1 - y0)), here)
            hits.append(row is not None and bool(is_thing[row]))
        return float(is_thing[places.offered(here)].any()), float(np.mean(hits))

    def _best_region(self, image: DatasetImage, label: str) -> int:
        overlaps = box_overlaps(self.store.bag(image.image_id).boxes, image.truth.of_class(label).boxes)  # (n, m)
        return int(overlaps.max(axis=1).argmax())


def errors_gone(helped: Sequence[Helped]) -> float:
    """Share of the wrong boxes where nobody said anything that the words have put right, over all draws."""
    before, after = (float(np.mean([1.0 - each.right[at] for each in helped])) for at in (0, -1))
    return 1.0 - after / before if before else 0.0


def _verdicts(found: Found, images: Mapping[str, DatasetImage]) -> dict[Place, bool]:
    return {each.place: is_right(each, images) for each in found.by_doubt()}

"""How the cost of EM grows with photos, regions and dimensions, and that of a head with classes: a picture.

    python benchmarks/growth.py [--runs N] [--picture FILE]

Lines of slope 1 in a picture with two logarithmic axes: twice as much takes twice as long.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from em import plant, stack_of
from measuring import take_turns
from tag2box.arrays import Array
from tag2box.methods.detectors import LikenessHead
from tag2box.methods.localizers import VmfForeground, run_em
from tag2box.types import ProposalBag

SIZES: Mapping[str, tuple[int, ...]] = {
    "photos": (5, 50, 500, 5000, 50_000),
    "regions": (30, 100, 300, 1000, 3000),
    "dimensions": (64, 128, 256, 512, 1024, 2048),
    "classes": (1, 10, 100, 1000),
}
USUAL = {"photos": 10, "regions": 301, "dimensions": 512}
DIFFERENT = 500
"""Photos that are planted; where more are asked for, they come again and again."""


def em(photos: int, regions: int, dimensions: int) -> Callable[[], object]:
    """Ten steps of EM."""
    rows, thing = plant(min(photos, DIFFERENT), regions, dimensions)
    stack = stack_of([rows[place % len(rows)] for place in range(photos)])
    return lambda: run_em(stack, VmfForeground(thing, 24.0), max_steps=10, tol=-1.0)


def detection(classes: int) -> Callable[[], object]:
    """One photo, looked at for so many classes with ten examples each."""
    rng = np.random.default_rng(0)
    rows, _ = plant(1)
    boxes = np.tile([0.0, 0.0, 9.0, 9.0], (len(rows[0]), 1))
    bag = ProposalBag("photo", boxes, rows[0], rng.uniform(size=len(boxes)), np.ones(len(boxes)))
    directions: Array = rng.standard_normal((classes, bag.dimension))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    examples = tuple(np.repeat(each[None], 10, axis=0).astype(np.float32) for each in directions)
    head = LikenessHead(tuple(map(str, range(classes))), directions, examples, lambda one: one, 10.0, 0.5)
    return lambda: head.score(bag)


def curves(runs: int) -> Iterator[tuple[str, list[float]]]:
    """For each axis the seconds at each of its sizes."""
    for axis, sizes in SIZES.items():
        seconds = []
        for size in sizes:
            work = detection(size) if axis == "classes" else em(**{**USUAL, axis: size})
            seconds.append(take_turns({axis: work}, runs if size < 5000 else 1)[axis].wall)
        yield axis, seconds


def draw(found: Mapping[str, list[float]], path: Path) -> None:
    """One curve an axis, and what growing in proportion would be."""
    figure, panels = plt.subplots(1, len(found), figsize=(14, 3.6), layout="constrained")
    for panel, (axis, seconds) in zip(panels, found.items(), strict=True):
        sizes = np.array(SIZES[axis], dtype=np.float64)
        panel.loglog(sizes, 1e3 * np.array(seconds), marker="o", color="#0072b2", label="measured")
        panel.loglog(sizes, 1e3 * seconds[-1] * sizes / sizes[-1], "--", color="#999999", label="in proportion")
        panel.set_xlabel(axis)
        panel.set_title("a photo, all classes" if axis == "classes" else "EM, ten steps", fontsize=10)
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("milliseconds")
    panels[0].legend(frameon=False)
    figure.savefig(path)
    plt.close(figure)


def main() -> None:
    """Measure and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--picture", type=Path, default=Path("growth.svg"))
    arguments = parser.parse_args()
    found = dict(curves(arguments.runs))
    for axis, seconds in found.items():
        sizes = ", ".join(f"{size:,}: {1e3 * cost:.2f} ms" for size, cost in zip(SIZES[axis], seconds, strict=True))
        print(f"{axis}  {sizes}")
    draw(found, arguments.picture)


if __name__ == "__main__":
    main()

"""How much faster ONNX Runtime extracts regions than the same model eager in torch, and how much memory it takes.

    python benchmarks/extraction.py PHOTOS... [--model FOLDER]

The torch model has the weights that stand in the graphs. The answers are compared first. Then both run on the same
photos with the same number of threads, in turn: one photo after the other, and many photos as `tag2box extract` takes
them, each core at a photo of its own. The decoding between the two stages is the same numpy code for both, and counts
for both.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tag2box.extract import Photo, TwoGraphs, find_photos, load_photo, open_extractor
from tag2box.types import ProposalBag

TOLERANCE = 2e-3
GROUP = 6
"""Photos that are timed together."""
REST = 0.3
"""Seconds before each timing: threads of the other library that still wait for work would take a core."""


def main() -> None:
    """Compare on the photos that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", nargs="+", type=Path)
    parser.add_argument("--model", type=Path, help="a model of tag2box train; the one that ships, if none is given")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--count", type=int, default=36)
    arguments = parser.parse_args()
    fast = open_extractor(arguments.model, threads=arguments.threads)
    files = find_photos(arguments.photos)[: arguments.count]
    photos = [load_photo(file.path, *fast.card.sides) for file in files]
    for photo in photos:
        fast.bag(fast.see(photo), "warm")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(f"Peak memory of ONNX Runtime on {len(photos)} photos: {memory:.2f} GiB")
    slow = eager_extractor(arguments.model, arguments.threads)
    print(f"Largest differences: {differences(fast, slow, photos)}")
    compare_speed(fast, slow, photos)
    compare_many(open_extractor(arguments.model, threads=1), slow, photos, arguments.threads)


class EagerGraph:
    """A torch module in place of a graph."""

    def __init__(self, module: Any, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> None:
        self.module, self.inputs, self.outputs = module.eval(), inputs, outputs

    def __call__(self, feeds: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
        """The outputs by name."""
        import torch

        with torch.inference_mode():
            values = self.module(*(torch.from_numpy(feeds[name]) for name in self.inputs))
        return {name: tensor.numpy() for name, tensor in zip(self.outputs, values, strict=True)}


def eager_extractor(folder: Path | None, threads: int) -> TwoGraphs:
    """The same extractor with torch modules in place of the graphs."""
    import torch

    from tag2box.training.detector.export import DESCRIBED, MAPS, PROPOSED, BoxGraph, PhotoGraph, load_exported

    torch.set_num_threads(threads)
    extractor = open_extractor(folder, threads=threads)
    detector = load_exported(extractor.folder)
    photo_graph = EagerGraph(PhotoGraph(detector), ("pixels",), (*PROPOSED, *MAPS))
    box_graph = EagerGraph(BoxGraph(detector), ("boxes", *MAPS), DESCRIBED)
    return replace(extractor, photo_graph=photo_graph, box_graph=box_graph)


def bag_of(extractor: TwoGraphs, photo: Photo) -> ProposalBag:
    """The whole way from pixels to a bag."""
    return extractor.bag(extractor.see(photo), "photo")


def differences(fast: TwoGraphs, slow: TwoGraphs, photos: list[Photo]) -> str:
    """Compare both stages on every photo; ends the program if they differ."""
    boxes = features = 0.0
    for photo in photos:
        first, second = fast.see(photo), slow.see(photo)
        for ours, theirs in zip(first.looks, second.looks, strict=True):
            boxes = max(boxes, float(np.abs(ours.boxes - theirs.boxes).max()))
        regions = fast.bag(first, "photo").boxes
        described, wanted = fast.describe(first, regions).features, slow.describe(second, regions).features
        features = max(features, float(np.abs(described - wanted).max() / np.abs(wanted).max()))
    if features > TOLERANCE:
        raise SystemExit(f"the features differ by {features:g} of the largest")
    return f"boxes {boxes:.2g} pixels, features {features:.2g} of the largest entry"


def compare_speed(fast: TwoGraphs, slow: TwoGraphs, photos: list[Photo]) -> None:
    """Time both on each photo in turn, and print the ratio of the medians: of the whole way, and of the first graph."""
    for name, work in (("One photo after the other", bag_of), ("Of that, the first graph alone", TwoGraphs.see)):
        ways: dict[str, Callable[[list[Photo]], object]] = {
            "ONNX Runtime": partial(each, work, fast),
            "torch": partial(each, work, slow),
        }
        medians = median_times(ways, [[photo] for photo in photos])
        ratio = medians["torch"] / medians["ONNX Runtime"]
        print(f"{name}: {ratio:.2f} times as fast as torch ({len(photos)} photos, medians)")


def each(work: Callable[[TwoGraphs, Photo], object], extractor: TwoGraphs, photos: list[Photo]) -> None:
    """Do the work on one photo after the other."""
    for photo in photos:
        work(extractor, photo)


def compare_many(alone: TwoGraphs, slow: TwoGraphs, photos: list[Photo], threads: int) -> None:
    """Time groups of photos, each core at a photo of its own; torch may work so too, or with all cores at one photo."""
    import torch

    def torch_side_by_side(some: list[Photo]) -> object:
        torch.set_num_threads(1)
        try:
            return list(pool.map(lambda photo: bag_of(slow, photo), some))
        finally:
            torch.set_num_threads(threads)

    with ThreadPoolExecutor(threads) as pool:
        ways: dict[str, Callable[[list[Photo]], object]] = {
            "ONNX Runtime": lambda some: list(pool.map(lambda photo: bag_of(alone, photo), some)),
            "torch, all cores at one photo": partial(each, bag_of, slow),
            "torch, each core at its own": torch_side_by_side,
        }
        groups = [photos[start : start + GROUP] for start in range(0, len(photos), GROUP)]
        medians = median_times(ways, [group for group in groups if len(group) == GROUP])
    for name in list(ways)[1:]:
        ratio = medians[name] / medians["ONNX Runtime"]
        print(f"Many photos: {ratio:.2f} times as fast as {name} (groups of {GROUP}, medians)")


def median_times(ways: dict[str, Callable[[list[Photo]], object]], groups: list[list[Photo]]) -> dict[str, float]:
    """Seconds that each way takes for a group, the ways taking turns."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for group in groups:
        for name, way in ways.items():
            time.sleep(REST)
            start = time.perf_counter()
            way(group)
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


if __name__ == "__main__":
    main()

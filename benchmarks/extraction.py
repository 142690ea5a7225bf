"""How much faster ONNX Runtime extracts regions than the same model eager in torch, and how much memory it takes.

    python benchmarks/extraction.py PHOTOS... --run RUN

RUN is a folder of `tag2box train`, whose checkpoint gives the torch model and whose export gives the graphs. Both run
on the same photos with the same number of threads, one photo after the other in turn; the answers are compared first.
The decoding between the two stages is the same numpy code for both, and counts for both.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tag2box.extract import Extractor, Photo, find_photos, load_photo
from tag2box.types import ProposalBag

TOLERANCE = 2e-3


def main() -> None:
    """Compare on the photos that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", nargs="+", type=Path)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--count", type=int, default=30)
    arguments = parser.parse_args()
    fast = Extractor(arguments.run / "model", threads=arguments.threads)
    files = find_photos(arguments.photos)[: arguments.count]
    photos = [load_photo(file.path, fast.card.image_size) for file in files]
    for photo in photos:
        fast.bag(fast.see(photo), "warm")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(f"Peak memory of ONNX Runtime on {len(photos)} photos: {memory:.2f} GiB")
    slow = eager_extractor(arguments.run, arguments.threads)
    print(f"Largest differences: {differences(fast, slow, photos)}")
    compare_speed(fast, slow, photos)


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


def eager_extractor(run: Path, threads: int) -> Extractor:
    """The same extractor with torch modules in place of the graphs."""
    import torch

    from tag2box.training.detector.export import DESCRIBED, MAPS, PROPOSED, BoxGraph, PhotoGraph
    from tag2box.training.detector.run import load_run

    torch.set_num_threads(threads)
    detector = load_run(run)
    extractor = Extractor(run / "model", threads=threads)
    extractor.photo_graph = EagerGraph(PhotoGraph(detector), ("pixels",), (*PROPOSED, *MAPS))
    extractor.box_graph = EagerGraph(BoxGraph(detector), ("boxes", *MAPS), DESCRIBED)
    return extractor


def bag_of(extractor: Extractor, photo: Photo) -> ProposalBag:
    """The whole way from pixels to a bag."""
    return extractor.bag(extractor.see(photo), "photo")


def differences(fast: Extractor, slow: Extractor, photos: list[Photo]) -> str:
    """Compare both stages on every photo; ends the program if they differ."""
    boxes = features = 0.0
    for photo in photos:
        first, second = fast.see(photo), slow.see(photo)
        boxes = max(boxes, float(np.abs(first.boxes - second.boxes).max()))
        regions = fast.bag(first, "photo").boxes
        ours, theirs = fast.describe(first, regions).features, slow.describe(second, regions).features
        features = max(features, float(np.abs(ours - theirs).max() / np.abs(theirs).max()))
    if features > TOLERANCE:
        raise SystemExit(f"the features differ by {features:g} of the largest")
    return f"boxes {boxes:.2g} pixels, features {features:.2g} of the largest entry"


def compare_speed(fast: Extractor, slow: Extractor, photos: list[Photo]) -> None:
    """Time both on each photo in turn, and print the ratio of the medians."""
    times: dict[str, list[float]] = {"ONNX Runtime": [], "torch": []}
    for photo in photos:
        for name, extractor in (("ONNX Runtime", fast), ("torch", slow)):
            start = time.perf_counter()
            bag_of(extractor, photo)
            times[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(values) for name, values in times.items()}
    ratio = medians["torch"] / medians["ONNX Runtime"]
    print(f"ONNX Runtime is {ratio:.1f} times as fast as torch ({len(photos)} photos, medians)")


if __name__ == "__main__":
    main()

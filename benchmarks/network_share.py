"""How much of the cores' time extraction spends in the network: the rest is decoding, resizing, choosing and writing.

    python benchmarks/network_share.py PHOTOS... [--count 60]

Photos go the way of ``tag2box extract``: each core looks at one of its own, and another thread writes.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, final

import numpy.typing as npt

from tag2box.extract import TwoGraphs, extract_photos, find_photos, open_extractor

Arrays = dict[str, npt.NDArray[Any]]


@final
class Timed:
    """A graph that remembers how long its calls took, on the cores that made them."""

    def __init__(self, graph: Any) -> None:
        self.graph, self.inputs = graph, graph.inputs
        self.wall = self.cpu = 0.0

    def __call__(self, feeds: Mapping[str, npt.NDArray[Any]]) -> Arrays:
        """The outputs by name."""
        wall, cpu = time.perf_counter(), time.thread_time()
        outputs: Arrays = self.graph(feeds)
        self.wall += time.perf_counter() - wall
        self.cpu += time.thread_time() - cpu
        return outputs


def timed(extractor: TwoGraphs) -> tuple[TwoGraphs, list[Timed]]:
    """The same extractor, with a watch on both graphs."""
    watched = [Timed(extractor.photo_graph), Timed(extractor.box_graph)]
    return replace(extractor, photo_graph=watched[0], box_graph=watched[1]), watched


def main() -> None:
    """Extract into a folder that is thrown away, and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=60)
    given = parser.parse_args()
    extractor, watched = timed(open_extractor(None, threads=1))
    photos = find_photos(given.photos)[: given.count]
    with tempfile.TemporaryDirectory() as folder:
        wall, cpu = time.perf_counter(), time.process_time()
        extract_photos(extractor, photos, Path(folder), lambda done, figures: None)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    cores, network = os.cpu_count() or 1, sum(graph.cpu for graph in watched)
    print(f"{len(photos)} photos on {cores} cores: busy {100 * cpu / (wall * cores):.0f} % of the time,")
    print(f"in the network {100 * network / (wall * cores):.0f} % of it ({100 * network / cpu:.0f} % of the CPU time)")


if __name__ == "__main__":
    main()

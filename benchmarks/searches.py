"""What the searches of section 15 find: energies beside CorLoc, and how often A* proves its answer.

    python benchmarks/searches.py DATA STORE [--tasks 100] [--shots 8]

On tasks of VOC07, with the relation network of the model that ships (``tag2box bench run`` trains it). The energies of
one task are compared with each other first: none may be below what A* has proved.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from tag2box.evaluation import is_correct
from tag2box.experiments.bench.results import Row
from tag2box.experiments.bench.running import draw_episodes
from tag2box.experiments.bench.workbench import Workbench
from tag2box.methods.rivals import BestFirst, Choice, Energy, GreedyTree, Search, Trws

DATASET = "voc07"
SEARCHES: dict[str, Search] = {"Greedy Tree": GreedyTree(), "TRW-S": Trws(), "A*": BestFirst()}
SLACK = 1e-3
"""What rounding may leave of an energy."""


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("store", type=Path)
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--shots", type=int, default=8)
    asked = parser.parse_args()
    bench = Workbench(asked.data, asked.store)
    network, pool = bench.knowledge().schooled.relations, bench.pool(DATASET)
    row = Row(DATASET, "greedy-tree", 1, asked.shots, asked.tasks, 1357, "by objects", "VOC", (), "")
    energies, hits, proved = [], [], 0
    for episode in draw_episodes(bench.load(DATASET), row):
        images = [image.image_id for image in episode.support]
        bags = [pool.bag(image) for image in images]
        energy = Energy.of_relations(network, [network.project(bag) for bag in bags], [np.zeros(len(b)) for b in bags])
        choices: list[Choice] = [search(energy) for search in SEARCHES.values()]
        best = choices[-1]
        proved += best.bound >= best.energy - SLACK
        if min(choice.energy for choice in choices) < best.bound - SLACK:
            raise SystemExit("an energy is below what A* has proved")
        energies.append([choice.energy for choice in choices])
        label = episode.classes[0]
        hits.append(
            [
                np.mean([
                    is_correct(bag.boxes[r], pool.truths[image], label)
                    for bag, r, image in zip(bags, choice.rows, images, strict=True)
                ])
                for choice in choices
            ]
        )  # fmt: skip
    print(f"{asked.tasks} tasks of {DATASET}, K = {asked.shots}; A* proves its answer in {proved / asked.tasks:.0%}.\n")
    print("| search | mean energy | not above A* | support CorLoc |\n| --- | --- | --- | --- |")
    table = np.array(energies)
    for name, own, right in zip(SEARCHES, table.T, np.mean(hits, axis=0), strict=True):
        level = np.mean(own <= table[:, -1] + SLACK)
        print(f"| {name} | {own.mean():.2f} | {level:.0%} | {100 * right:.1f} |")


if __name__ == "__main__":
    main()

"""How long two houses take to learn a class from the same store, started in turn on one thread."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any, Final

from houses import snippets
from houses.differences import Comparison, compare_values
from houses.house import House

REPEATS: Final = 5
"""Times in each process, after one that does not count."""
SAME_ANSWER: Final = 1e-6
ONE_THREAD: Final = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def time_learning(old: House, new: House, store: Path, names: list[str], rounds: int) -> Comparison:
    """Print the medians and their ratio; the comparison of what was learned."""
    measured: dict[str, list[dict[str, Any]]] = {old.name: [], new.name: []}
    for number in range(rounds):
        for house in (old, new) if number % 2 == 0 else (new, old):
            measured[house.name].append(_learn(house, store, names))
    print(f"Learning a class of {len(names)} photos from a store, {rounds} rounds in turn, one thread:")
    for clock in ("wall", "cpu"):
        before, after = (median(one[clock] for one in measured[house.name]) for house in (old, new))
        print(f"  {clock:4}  old {1000 * before:8.2f} ms   new {1000 * after:8.2f} ms   ratio {before / after:.2f}")
    first, second = (measured[house.name][0]["answer"] for house in (old, new))
    return compare_values("learned class", first, second, SAME_ANSWER)


def _learn(house: House, store: Path, names: list[str]) -> dict[str, Any]:
    ways = json.dumps(snippets.WAYS_TO_LEARN)
    ending = house.python(snippets.TIME_LEARNING, store, json.dumps(names), str(REPEATS), ways, variables=ONE_THREAD)
    if ending.code:
        raise SystemExit(f"{house.root} cannot learn a class: {ending.complaint}")
    answer: dict[str, Any] = json.loads(ending.output.splitlines()[-1])
    return answer

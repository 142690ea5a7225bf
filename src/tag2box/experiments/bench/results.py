"""A row of a table: one method at one number of ways and shots, and the file that its result is kept in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from pathlib import Path
from typing import Any, final

from tag2box.errors import ResultError, reason_of
from tag2box.evaluation import Interval, Verdict
from tag2box.experiments.bench.specification import QUERY, Specification
from tag2box.files import write_json
from tag2box.methods.lineup import Chosen

FORMAT = "tag2box-result-2"
BY_CLASS = (QUERY, "AP")
"""Measures of each class."""
UNKNOWN = {"low": float("nan"), "high": float("nan")}
"""The ends of an interval that a file does not have."""


@final
@dataclass(frozen=True)
class Row:
    """Everything that a number depends on."""

    dataset: str
    method: str
    ways: int
    shots: int
    tasks: int
    seed: int
    draw: str
    rule: str
    chosen: tuple[tuple[str, float], ...]
    extractor: str
    annotations: str = ""
    """Hash of what is labelled in the images; empty for a row that is not kept"""
    knowledge: str = ""
    """Hash of what was fitted on base regions; the same"""

    @property
    def key(self) -> str:
        """A hash that names the result."""
        known = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(known.encode()).hexdigest()[:16]

    def file(self, folder: Path) -> Path:
        """Where the result is kept: readable first, certain last."""
        name = f"{self.dataset} {self.method} {self.ways}-way {self.shots}-shot {self.key}".replace(" ", "-")
        return folder / f"{name}.json"


def rows_of(
    specification: Specification,
    chosen: dict[str, Chosen],
    extractor: str,
    annotations: str,
    knowledge: Mapping[str, str],
) -> list[Row]:
    """The rows of a table, method by method; ``knowledge`` is the hash of what each of them knows beforehand."""
    asked = specification
    return [
        Row(
            asked.dataset,
            method,
            ways,
            shots,
            asked.tasks,
            asked.seed,
            asked.draw,
            asked.rule,
            tuple(sorted(chosen[method].items())),
            extractor,
            annotations,
            knowledge[method],
        )
        for method in asked.methods
        for ways in asked.ways
        for shots in asked.shots
    ]


@final
@dataclass(frozen=True)
class RowResult:
    """What a row came to."""

    figures: dict[str, Interval]
    by_class: dict[str, dict[str, float | None]]
    """For each class its CorLoc, average precision and number of queries; null where there was nothing to count"""
    labels: tuple[str, ...]
    """Class of each trial"""
    tasks: tuple[int, ...]
    """Task of each trial"""
    query: tuple[tuple[Verdict, ...], ...]
    """What the query image of each trial shows, if there is one"""
    support: tuple[tuple[bool, ...], ...]
    precision_without: tuple[float, ...]
    """mAP without each group of tasks in turn; empty where there is none"""
    seconds: float
    """From the first task to the last, on this machine"""


def save_result(path: Path, row: Row, result: RowResult, facts: dict[str, Any]) -> None:
    """Write a result, atomically; bits for hits keep it small."""
    content = {
        "format": FORMAT,
        "row": asdict(row),
        **facts,
        "figures": {name: _known(value) for name, value in result.figures.items() if not isnan(value.value)},
        "mAP without each group of tasks": list(result.precision_without),
        "by class": result.by_class,
        "seconds": result.seconds,
        "trials": {
            "task": list(result.tasks),
            "class": list(result.labels),
            "query": [list(verdicts) for verdicts in result.query],
            "support": [_bits(hits) for hits in result.support],
        },
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, content)


def load_result(path: Path) -> RowResult:
    """Read a result; a file of another kind, or a damaged one, is refused by name."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"the format is {content['format']!r}")
        trials = content["trials"]
        return RowResult(
            {name: Interval(**UNKNOWN | value) for name, value in content["figures"].items()},
            content["by class"],
            tuple(trials["class"]),
            tuple(trials["task"]),
            tuple(tuple(Verdict(word) for word in verdicts) for verdicts in trials["query"]),
            tuple(_hits(bits) for bits in trials["support"]),
            tuple(content["mAP without each group of tasks"]),
            float(content["seconds"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ResultError(
            f"{path} cannot be read as a result: {reason_of(error)}.",
            f"a file of format {FORMAT!r}",
            "delete it and run the experiment again.",
        ) from error


def _known(interval: Interval) -> dict[str, float]:
    """What an interval says; one trial has no width, and JSON has no word for that."""
    return {name: value for name, value in asdict(interval).items() if not isnan(value)}


def _bits(hits: Sequence[bool]) -> str:
    return "".join("1" if hit else "0" for hit in hits)


def _hits(bits: str) -> tuple[bool, ...]:
    if not isinstance(bits, str) or set(bits) - {"0", "1"}:
        raise ValueError(f"hits are written as {bits!r}")
    return tuple(bit == "1" for bit in bits)

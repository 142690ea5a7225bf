"""What an experiment is, as a TOML file says it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, final

from tag2box.data import ClassDraw, class_of_an_object, classes_by_images, classes_uniformly
from tag2box.errors import SpecificationError
from tag2box.evaluation import RULES, Rule
from tag2box.methods.lineup import LINEUP

QUERY, SUPPORT, AGNOSTIC, PRECISION = "query CorLoc", "support CorLoc", "class-agnostic CorLoc", "mAP"
BY_OBJECTS = "by objects"
"""For tasks of one class only."""
DRAWS: Mapping[str, ClassDraw] = MappingProxyType(
    {"by images": classes_by_images, "uniformly": classes_uniformly, BY_OBJECTS: class_of_an_object}
)
EVERY_IMAGE = "every image"
"""Instead of drawing, one task a class with all its images."""
MEASURES = (QUERY, SUPPORT, AGNOSTIC, PRECISION)
COMPARED = (QUERY, SUPPORT, PRECISION)
"""Measures by which one method can be expected to beat another."""
TABLE_RULES: Mapping[str, Rule] = MappingProxyType({"VOC": RULES["voc_11_points"], "COCO": RULES["coco_101_points"]})
"""Of average precision, as the paper's tables name them."""


@final
@dataclass(frozen=True)
class PaperValue:
    """A number that the paper printed."""

    method: str
    measure: str
    value: float
    ways: int = 1
    shots: int = 5


@final
@dataclass(frozen=True)
class Expectation:
    """One method should beat another: what the paper found, and we check."""

    better: str
    worse: str
    measure: str = QUERY


@final
@dataclass(frozen=True)
class Specification:
    """A table: which tasks are drawn from which images, which methods are tried on them, what the paper has."""

    title: str
    claim: str
    dataset: str
    methods: tuple[str, ...]
    shots: tuple[int, ...] = (5,)
    ways: tuple[int, ...] = (1,)
    tasks: int = 2000
    seed: int = 1357
    draw: str = "by images"
    """How the classes of a task are drawn: ``by images``, ``uniformly``, ``by objects`` (an image, then one of its
    objects), or ``every image`` of each class at once"""
    rule: str = "VOC"
    """Of average precision"""
    show: tuple[str, ...] = (QUERY, PRECISION)
    """Measures, in the order of the report"""
    paper: tuple[PaperValue, ...] = ()
    paper_by_class: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)
    """Method → measure → class → value, where the paper printed them"""
    expect: tuple[Expectation, ...] = ()
    remark: str = ""
    """What a person who has looked at the results, and at pictures, has to say about them"""

    def __post_init__(self) -> None:
        for name, values, known in (
            ("methods", self.methods, LINEUP),
            ("draw", (self.draw,), (*DRAWS, EVERY_IMAGE)),
            ("rule", (self.rule,), TABLE_RULES),
            ("show", self.show, MEASURES),
            ("paper", [value.method for value in self.paper], self.methods),
            ("paper_by_class", tuple(self.paper_by_class), self.methods),
            ("paper", [value.measure for value in self.paper], MEASURES),
            ("expect", [name for claim in self.expect for name in (claim.better, claim.worse)], self.methods),
            ("expect", [claim.measure for claim in self.expect], COMPARED),
        ):
            strangers = [value for value in values if value not in known]
            if strangers:
                raise _wrong(name, strangers[0], f"one of {', '.join(known)}")
        for name, numbers in (("shots", self.shots), ("ways", self.ways), ("tasks", (self.tasks,))):
            if not numbers or min(numbers) < 1:
                raise _wrong(name, numbers, "whole numbers from 1 on")
        if self.draw == BY_OBJECTS and self.ways != (1,):
            raise _wrong("ways", self.ways, f"[1], as tasks drawn {BY_OBJECTS} have one class")


def read_specification(path: Path) -> Specification:
    """The experiment in a TOML file; a key that is not a setting is an error."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        paper = tuple(_made(PaperValue, entry, "paper") for entry in content.pop("paper", []))
        expect = tuple(_made(Expectation, entry, "expect") for entry in content.pop("expect", []))
        return _made(Specification, content | {"paper": paper, "expect": expect}, "the experiment")
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, TypeError) as error:
        raise SpecificationError(f"{path} cannot be read: {error}.", "a TOML file", "check the file.") from error
    except SpecificationError as error:
        raise SpecificationError(f"{path}: {error.wrong}", error.expected, error.remedy) from error


def _made(kind: type[Any], content: dict[str, Any], where: str) -> Any:
    known = {entry.name for entry in fields(kind)}
    strangers = sorted(set(content) - known)
    if strangers:
        raise SpecificationError(
            f"{where} has the unknown key {strangers[0]!r}.", f"keys among {', '.join(sorted(known))}", "correct it."
        )
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in content.items()})


def _wrong(name: str, value: object, expected: str) -> SpecificationError:
    return SpecificationError(f"{name} is {value!r}.", expected, "correct the value.")

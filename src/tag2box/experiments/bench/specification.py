"""What an experiment is, as a TOML file says it."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
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
PAPER, OURS = "paper", "ours"
"""Whose hypothesis it is."""
TABLE_RULES: Mapping[str, Rule] = MappingProxyType({"VOC": RULES["voc_11_points"], "COCO": RULES["coco_101_points"]})
"""Of average precision, as the paper's tables name them."""
SEPARATORS = ";|&"
"""Of cells in CSV, Markdown and LaTeX."""
_Choice = tuple[str, Collection[Any], Collection[Any]]
"""The name of a setting, its values, and what they may be."""


@final
@dataclass(frozen=True)
class PaperValue:
    """A number that the paper printed."""

    method: str
    """Or the title of a row that was not run"""
    measure: str
    value: float
    ways: int = 1
    shots: int = 5


@final
@dataclass(frozen=True)
class Expectation:
    """A hypothesis: one method is better than another, in every cell of a table or in some."""

    better: str
    worse: str
    by: str
    """``paper`` or ``ours``"""
    measure: str = QUERY
    shots: int | None = None
    """The only number of shots that it is about; without, it is about all"""
    ways: int | None = None
    """The same for ways"""
    after: bool = False
    """Whether it was written after its result had been seen"""

    def covers(self, ways: int, shots: int) -> bool:
        """Whether it is about this cell."""
        return self.ways in (None, ways) and self.shots in (None, shots)


@final
@dataclass(frozen=True)
class MoreShots:
    """A hypothesis: a method is better with more shots."""

    method: str
    fewer: int
    more: int
    by: str
    """``paper`` or ``ours``"""
    measure: str = QUERY
    ways: int | None = None
    """The only number of ways that it is about; without, it is about all"""
    after: bool = False
    """Whether it was written after its result had been seen"""

    def covers(self, ways: int, shots: int) -> bool:
        """Whether this cell is the one with more shots."""
        return self.ways in (None, ways) and self.more == shots


Hypothesis = Expectation | MoreShots


@final
@dataclass(frozen=True)
class NotRun:
    """A row of the paper's that has no number of ours, and why."""

    title: str
    why: str
    command: str = ""
    """What would run it"""
    paper: Mapping[str, float] = field(default_factory=dict)
    """Measure → what the paper printed, in a table of one cell"""

    def __post_init__(self) -> None:
        for name, text in (("title", self.title), ("why", self.why)):
            if not str(text).strip():
                raise _wrong(f"{name} of not_run", text, "some words")
        if set(self.title) & set(SEPARATORS):
            raise _wrong("title of not_run", self.title, f"a title without any of {SEPARATORS}, which part cells")
        if not isinstance(self.paper, Mapping) or not all(isinstance(v, int | float) for v in self.paper.values()):
            raise _wrong("paper of not_run", self.paper, "a number for each measure")


@final
@dataclass(frozen=True)
class Specification:
    """A table: which tasks are drawn from which images, which methods are tried on them, what the paper has."""

    title: str
    question: str
    """What the table asks; it says nothing about the answer"""
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
    expect_more: tuple[MoreShots, ...] = ()
    not_run: tuple[NotRun, ...] = ()
    remark: str = ""
    """What a person who has looked at the results, and at pictures, has to say about them"""

    def __post_init__(self) -> None:
        for name, values, known in (*self._choices(), *self._hypotheses()):
            strangers = [value for value in values if value not in known]
            if strangers:
                raise _wrong(name, strangers[0], f"one of {', '.join(map(str, known))}")
        if not str(self.question).endswith("?"):
            raise _wrong("question", self.question, "a sentence that asks, with ? at its end")
        for name, numbers in (("shots", self.shots), ("ways", self.ways), ("tasks", (self.tasks,))):
            if not numbers or min(numbers) < 1:
                raise _wrong(name, numbers, "whole numbers from 1 on")
        if self.draw == BY_OBJECTS and self.ways != (1,):
            raise _wrong("ways", self.ways, f"[1], as tasks drawn {BY_OBJECTS} have one class")
        self._require_more_to_be_more()
        self._require_places_for_rows_not_run()

    @property
    def one_cell(self) -> bool:
        """Whether there is one number of ways, and one of shots."""
        return len(self.ways) == len(self.shots) == 1

    @property
    def printed(self) -> dict[tuple[str, str, int, int], float]:
        """What the paper printed, by method (or title of a row that was not run), measure, ways and shots."""
        values = {(value.method, value.measure, value.ways, value.shots): value.value for value in self.paper}
        for row in self.not_run:
            values |= {(row.title, name, self.ways[0], self.shots[0]): value for name, value in row.paper.items()}
        return values

    def _choices(self) -> Iterator[_Choice]:
        rows = (*self.methods, *(row.title for row in self.not_run))
        yield "methods", self.methods, LINEUP
        yield "draw", (self.draw,), (*DRAWS, EVERY_IMAGE)
        yield "rule", (self.rule,), TABLE_RULES
        yield "show", self.show, MEASURES
        yield "paper", [value.method for value in self.paper], rows
        yield "paper_by_class", tuple(self.paper_by_class), self.methods
        yield "paper", [value.measure for value in self.paper], MEASURES
        yield "paper of not_run", [measure for row in self.not_run for measure in row.paper], self.show

    def _hypotheses(self) -> Iterator[_Choice]:
        yield "expect", [name for one in self.expect for name in (one.better, one.worse)], self.methods
        yield "expect_more", [one.method for one in self.expect_more], self.methods
        both: dict[str, tuple[Hypothesis, ...]] = {"expect": self.expect, "expect_more": self.expect_more}
        for name, hypotheses in both.items():
            yield name, [one.measure for one in hypotheses], COMPARED
            yield f"by of {name}", [one.by for one in hypotheses], (PAPER, OURS)
            yield f"after of {name}", [one.after for one in hypotheses], (True, False)
            yield f"ways of {name}", [one.ways for one in hypotheses if one.ways is not None], self.ways
        yield "shots of expect", [one.shots for one in self.expect if one.shots is not None], self.shots
        yield "shots of expect_more", [shots for one in self.expect_more for shots in (one.fewer, one.more)], self.shots

    def _require_more_to_be_more(self) -> None:
        for one in self.expect_more:
            if one.fewer >= one.more:
                raise _wrong("more of expect_more", one.more, f"a number above fewer, which is {one.fewer}")

    def _require_places_for_rows_not_run(self) -> None:
        titles = [LINEUP[method].title for method in self.methods]
        for row in self.not_run:
            if row.title in titles:
                raise _wrong("title of not_run", row.title, "a row that the table does not have yet")
            if row.paper and not self.one_cell:
                raise _wrong("paper of not_run", dict(row.paper), "[[paper]] entries, as the table has several cells")
            titles.append(row.title)


ENTRIES: Mapping[str, type[Any]] = MappingProxyType(
    {"paper": PaperValue, "expect": Expectation, "expect_more": MoreShots, "not_run": NotRun}
)
"""What a file has several of."""


def read_specification(path: Path) -> Specification:
    """The experiment in a TOML file; a key that is not a setting is an error."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        for name, kind in ENTRIES.items():
            content[name] = tuple(_made(kind, entry, name) for entry in content.get(name, []))
        return _made(Specification, content, "the experiment")
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, TypeError) as error:
        raise SpecificationError(f"{path} cannot be read: {error}.", "a TOML file", "check the file.") from error
    except SpecificationError as error:
        raise SpecificationError(f"{path}: {error.wrong}", error.expected, error.remedy) from error


def _made(kind: type[Any], content: dict[str, Any], where: str) -> Any:
    known = {entry.name for entry in fields(kind)}
    required = [entry.name for entry in fields(kind) if entry.default is entry.default_factory is MISSING]
    missing = [name for name in required if name not in content]
    strangers = sorted(set(content) - known)
    if strangers:
        raise SpecificationError(
            f"{where} has the unknown key {strangers[0]!r}.", f"keys among {', '.join(sorted(known))}", "correct it."
        )
    if missing:
        raise SpecificationError(
            f"{where} has no {missing[0]!r}.", f"the keys {', '.join(required)} at least", "add what is missing."
        )
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in content.items()})


def _wrong(name: str, value: object, expected: str) -> SpecificationError:
    return SpecificationError(f"{name} is {value!r}.", expected, "correct the value.")

"""What a method of the lineup is: a name in tables, and how to make it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import final

from tag2box.methods.knowledge import Knowledge
from tag2box.methods.learners import ObjectLearner

BOTH = "support and query CorLoc"
"""A figure to choose settings by"""

Chosen = Mapping[str, float]
"""Values of a method's settings."""


@final
@dataclass(frozen=True)
class Method:
    """A method by its name in tables, and how to make it from what is known and what was chosen."""

    title: str
    build: Callable[[Knowledge, Chosen], ObjectLearner]
    grid: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Values of each setting to choose from; empty if there is nothing to choose"""
    like: str | None = None
    """The method whose chosen settings this one uses, beside its own"""
    chosen_by: str = "query CorLoc"
    """What settings are chosen by: a detector is for more than the best region"""
    for_people: bool = False
    """Whether it is what users get, who photograph things on one floor too: tasks of one scene then help to choose"""
    schooled: bool = False
    """Whether it has networks of its own, which are trained on base classes first"""

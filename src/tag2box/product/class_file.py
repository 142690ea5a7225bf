"""Learned classes on disk: a few kilobytes each, to be added, merged and removed without touching the others.

C = classes, k = examples of a class, d = feature dimension
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from pathlib import Path
from typing import Any, final

import numpy as np
from safetensors import SafetensorError

from tag2box.arrays import Array, Float32s, frozen, require_finite, require_number, require_shape, require_unit_rows
from tag2box.data.formats.coco_results import FOUND
from tag2box.data.tags import name_fault
from tag2box.errors import ClassFileError, reason_of
from tag2box.files import read_tensors, replacing, tensor_bytes
from tag2box.methods.detectors import MOST_EXAMPLES

FORMAT = "tag2box-classes-2"
DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, SafetensorError)
"""What reading a file raises that is none of ours, or was changed."""


@final
@dataclass(frozen=True, eq=False)
class KnownClass:
    """What is kept of a class that was learned."""

    label: str
    direction: Float32s
    """(d,), unit length: what its photos share, among centred features"""
    examples: Float32s
    """(k, d), unit rows: regions in which it was found, as the extractor describes them"""
    kappa: float
    threshold: float
    """The score from which on a region is the thing, as it was learned"""
    least_likeness: float
    """How like the class a region must be to count at all"""
    provenance: Mapping[str, Any]
    """From how many photos, when and with which settings it was learned"""
    min_score: float = FOUND
    """From which score on it counts as found: one half as it was learned, more for fewer false alarms"""

    def __post_init__(self) -> None:
        require_label(self.label)
        object.__setattr__(self, "direction", frozen(self.direction, np.float32))
        name = f"direction of {self.label!r}"
        require_shape(name, self.direction, (None,))
        require_finite(name, self.direction)
        require_unit_rows(name, self.direction[None])
        object.__setattr__(self, "examples", frozen(_as_kept(self.examples), np.float32))
        name = f"examples of {self.label!r}"
        require_shape(name, self.examples, (None, len(self.direction)))
        require_finite(name, self.examples)
        require_unit_rows(name, self.examples)
        require_number(f"kappa of {self.label!r}", self.kappa, above=0.0)
        require_number(f"threshold of {self.label!r}", self.threshold)
        require_number(f"least likeness of {self.label!r}", self.least_likeness)
        if not 0.0 < self.min_score < 1.0:
            raise ClassFileError(
                f"{self.label!r} shall count as found from a score of {self.min_score:g} on.",
                f"a score between 0 and 1; {FOUND:g} is as it was learned",
                "give another score.",
            )


@final
@dataclass(frozen=True, eq=False)
class ClassSet:
    """Classes that were learned from the features of one extractor."""

    fingerprint: str
    classes: tuple[KnownClass, ...]

    def __post_init__(self) -> None:
        labels = self.labels
        twice = sorted({label for label in labels if labels.count(label) > 1})
        if twice:
            raise ClassFileError(
                f"the class {twice[0]!r} occurs twice.",
                "each class once",
                "remove it from one of the files with tag2box classes remove.",
            )

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the classes."""
        return tuple(known.label for known in self.classes)

    @property
    def directions(self) -> Array:
        """(C, d)."""
        return np.stack([known.direction for known in self.classes]).astype(np.float64)

    @property
    def thresholds(self) -> dict[str, float]:
        """By class: as they were learned, moved to where a person wants them."""
        return {known.label: known.threshold + log(known.min_score / (1 - known.min_score)) for known in self.classes}

    def only(self, labels: Collection[str]) -> ClassSet:
        """These classes alone."""
        return ClassSet(self.fingerprint, tuple(known for known in self.classes if known.label in labels))

    def found_from(self, label: str, min_score: float) -> ClassSet:
        """The same classes, one of which counts as found from another score on, as it was learned."""
        self._require_known([label])
        return replace(
            self,
            classes=tuple(replace(one, min_score=min_score) if one.label == label else one for one in self.classes),
        )

    def with_scores_of(self, other: ClassSet) -> ClassSet:
        """The same classes; those that the other set has too count as found from the same score on as there."""
        scores = {known.label: known.min_score for known in other.classes}
        classes = [replace(one, min_score=scores.get(one.label, one.min_score)) for one in self.classes]
        return replace(self, classes=tuple(classes))

    def without(self, labels: Collection[str]) -> ClassSet:
        """The other classes; one that is not there is refused."""
        self._require_known(labels)
        return ClassSet(self.fingerprint, tuple(known for known in self.classes if known.label not in labels))

    def _require_known(self, labels: Collection[str]) -> None:
        strangers = [label for label in labels if label not in self.labels]
        if strangers:
            raise ClassFileError(
                f"there is no class {strangers[0]!r}.", f"one of {', '.join(self.labels)}", "check the name."
            )


def require_label(label: object) -> None:
    """Refuse what is no name of a class: it has to be shown, written to files and read again."""
    fault = name_fault(label)
    if fault:
        raise ClassFileError(
            f"{label!r} is no name of a class: it {fault}.",
            "a word or a few, in characters that can be shown",
            "rename the class.",
        )


def require_new(labels: Collection[str], known: ClassSet, name: str) -> None:
    """Refuse to learn what a set of classes knows already, before any work."""
    known_already = sorted(set(labels) & set(known.labels))
    if known_already:
        raise ClassFileError(
            f"{name} knows {known_already[0]!r} already.",
            "tags that are new to it",
            "remove the class there first, leave out the tag, or learn all of them together from all photos.",
        )


def merge_classes(sets: Sequence[ClassSet]) -> ClassSet:
    """All classes of several sets, which must be of one extractor."""
    first = sets[0]
    for other in sets[1:]:
        require_extractor(other, first.fingerprint, "a set of classes")
    return ClassSet(first.fingerprint, tuple(known for each in sets for known in each.classes))


def require_extractor(classes: ClassSet, fingerprint: str, name: str) -> None:
    """Refuse classes that were learned from other features: they would mean nothing."""
    if classes.fingerprint != fingerprint:
        raise ClassFileError(
            f"{name} was made with the extractor {classes.fingerprint}.",
            f"classes of {fingerprint}",
            "use the model that they were made with, or fit the classes again.",
        )


def save_classes(path: Path, known: ClassSet) -> None:
    """Write classes, atomically; a folder that is not there is made."""
    facts = [
        {
            "label": each.label,
            "kappa": each.kappa,
            "threshold": each.threshold,
            "least_likeness": each.least_likeness,
            "examples": len(each.examples),
            "min_score": each.min_score,
            "provenance": dict(each.provenance),
        }
        for each in known.classes
    ]
    directions = np.stack([each.direction for each in known.classes]) if facts else np.zeros((0, 1), np.float32)
    rows = [each.examples.astype(np.float16) for each in known.classes]
    examples = np.concatenate(rows) if facts else np.zeros((0, 1), np.float16)
    metadata = {"format": FORMAT, "fingerprint": known.fingerprint, "classes": json.dumps(facts)}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(tensor_bytes({"directions": directions, "examples": examples}, metadata))


def load_classes(path: Path) -> ClassSet:
    """Read classes; a file of another kind, or a damaged one, is refused by name."""
    try:
        tensors, metadata = read_tensors(path, FORMAT)
        facts, directions, examples = json.loads(metadata["classes"]), tensors["directions"], tensors["examples"]
        if directions.dtype != np.float32 or examples.dtype != np.float16 or len(facts) != len(directions):
            raise ValueError(f"{len(facts)} classes go with {directions.shape} numbers of {directions.dtype}")
        ends = np.cumsum([_count(fact) for fact in facts], dtype=np.int64)  # (C,)
        if len(examples) != (ends[-1] if facts else 0):
            raise ValueError(f"{len(examples)} examples are not those of {len(facts)} classes")
        rows = np.split(examples.astype(np.float32), ends[:-1])
        known = tuple(_known(*parts) for parts in zip(facts, directions, rows, strict=False))
        return ClassSet(metadata["fingerprint"], known)
    except DAMAGE as error:
        raise ClassFileError(
            f"{path} cannot be read as classes: {reason_of(error)}.",
            "a file that tag2box fit wrote",
            "check the path, or fit the classes again.",
        ) from error


def _count(fact: Mapping[str, Any]) -> int:
    count = fact["examples"]
    if type(count) is not int or not 0 <= count <= MOST_EXAMPLES:
        raise ValueError(f"a class has {count!r} examples")
    return count


def _known(fact: Mapping[str, Any], direction: Float32s, examples: Float32s) -> KnownClass:
    kappa, threshold, least = (float(fact[name]) for name in ("kappa", "threshold", "least_likeness"))
    provenance, min_score = dict(fact["provenance"]), float(fact["min_score"])
    return KnownClass(fact["label"], direction, examples, kappa, threshold, least, provenance, min_score)


def _as_kept(examples: Float32s) -> Float32s:
    """As a file gives them back, so that a class detects the same before and after."""
    return np.asarray(examples, dtype=np.float16).astype(np.float32)

"""What each rule of proposing is worth: recall with one of them changed at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tag2box.data import DatasetImage
from tag2box.experiments.recall import Cover, CoveredObjects
from tag2box.extract import ProposalRules, SeenPhoto, TwoGraphs
from tag2box.progress import Report

OTHER_VALUES: dict[str, tuple[Any, ...]] = {
    "looks": ((1.0,), (1.0, 1.6), (1.0, 2 / 3), (1.0, 4 / 3, 2 / 3), (1.0, 2.0, 2 / 3), (1.0, 1.6, 4 / 3, 2 / 3)),
    "first_overlap": (0.55, 0.6, 0.7),
    "corrected": (400, 600),
    "final_overlap": (0.6, 0.7),
    "second_weight": (0.15, 0.5),
}
"""On either side of the rules that ship."""

UNCHANGED = "as they are"


def recall_by_rules(extractor: TwoGraphs, images: Iterable[DatasetImage], report: Report) -> dict[str, CoveredObjects]:
    """Objects that regions cover under the rules of a model's card, and under those with one changed; by the change."""
    variants = {name: extractor.with_rules(rules) for name, rules in changed_rules(extractor.card.rules).items()}
    covers = {name: Cover() for name in variants}
    for done, image in enumerate(images, 1):
        seen: dict[tuple[int, ...], SeenPhoto] = {}
        for name, variant in variants.items():
            sides = variant.card.sides
            seen[sides] = seen[sides] if sides in seen else variant.see_file(image.path)
            regions = variant.proposer.regions(seen[sides], variant.proposer.candidates(seen[sides]))[1:]
            covers[name].add(image.truth, regions * seen[sides].scale)
        report(done, {})
    return {name: cover.objects() for name, cover in covers.items()}


def changed_rules(rules: ProposalRules) -> dict[str, ProposalRules]:
    """The rules, and the rules with one of them changed, by what is changed."""
    changes = [(name, value) for name, values in OTHER_VALUES.items() for value in values]
    changed = {f"{name} = {_shown(value)}": replace(rules, **{name: value}) for name, value in changes}
    return {UNCHANGED: rules} | {name: other for name, other in changed.items() if other != rules}


def _shown(value: Any) -> str:
    return ", ".join(f"{look:.2f}" for look in value) if isinstance(value, tuple) else str(value)

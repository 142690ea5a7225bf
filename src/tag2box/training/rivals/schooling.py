"""Everything that rivals learn from base classes, one after the other."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from tag2box.data import Dataset
from tag2box.methods.rivals import Schooling
from tag2box.progress import Progress
from tag2box.store import FeatureStore
from tag2box.training.rivals.lessons import LabelledRegions
from tag2box.training.rivals.lsda import fit_base_classifiers
from tag2box.training.rivals.relations import RelationRecipe, train_relations
from tag2box.training.rivals.silco import SilcoRecipe, train_silco

RELATIONS, SILCO = RelationRecipe(), SilcoRecipe()


def recipes() -> dict[str, Any]:
    """How the networks are trained, as JSON has it."""
    silco = asdict(SILCO)
    return {"relations": asdict(RELATIONS), "silco": {**silco, "heed": list(SILCO.heed)}}


def train_rivals(store: FeatureStore, dataset: Dataset, base: Collection[str], progress: Progress) -> Schooling:
    """Train the networks of rivals on the photos of a store."""
    regions = LabelledRegions.of(store, dataset, base)
    with progress("Training the relation network", RELATIONS.steps) as report:
        relations = train_relations(regions, RELATIONS, report)
    with progress("Training SILCO's modules", SILCO.steps) as report:
        silco = train_silco(regions, SILCO, report)
    return Schooling(relations, fit_base_classifiers(regions), silco)

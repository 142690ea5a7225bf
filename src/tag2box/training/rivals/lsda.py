"""Classifiers of base classes, of whole images and of regions, in closed form (docs/method.md, section 16).

C = classes, d = feature dimension
"""

from __future__ import annotations

import numpy as np

from tag2box.arrays import Array
from tag2box.methods.rivals import BaseClassifiers
from tag2box.rows import Rows
from tag2box.training.rivals.lessons import NOTHING, LabelledRegions
from tag2box.types import WHOLE_IMAGE


def fit_base_classifiers(regions: LabelledRegions) -> BaseClassifiers:
    """Linear discriminants: of whole images against all images, of regions on objects against background."""
    wholes = np.stack([features[WHOLE_IMAGE] for features in regions.features]).astype(np.float64)  # (photos, d)
    rows, labels = np.concatenate(regions.features), np.concatenate(regions.labels)
    known = [label for label in regions.photos_of if any(label in tags for tags in regions.tags)]
    of_images = [wholes[[label in tags for tags in regions.tags]].mean(axis=0) for label in known]
    of_regions = [rows[labels == label].mean(axis=0, dtype=np.float64) for label in known]
    background = rows[labels == NOTHING].mean(axis=0, dtype=np.float64)
    solver, region_solver = _inverse_scatter(wholes), _inverse_scatter(rows)
    images = (np.stack(of_images) - wholes.mean(axis=0)) @ solver
    objects = (np.stack(of_regions) - background) @ region_solver
    narrow = (each.astype(np.float32) for each in (_units(images), _units(objects), wholes.mean(axis=0), solver))
    return BaseClassifiers(*narrow)


def _inverse_scatter(rows: Rows) -> Array:
    """(d, d), with a ridge of the mean scatter: there are fewer whole images than it would take without."""
    moved = rows - rows.mean(axis=0)
    scatter = np.asarray(moved.T @ moved, dtype=np.float64) / len(rows)
    return np.linalg.inv(scatter + np.trace(scatter) / len(scatter) * np.eye(len(scatter)))


def _units(rows: Array) -> Array:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)

"""What learners know before they see a task: all of it fitted on base regions of one extractor.

d = feature dimension
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save

from tag2box.arrays import Array
from tag2box.errors import BackgroundFileError, reason_of
from tag2box.files import read_tensors, replacing
from tag2box.methods.detectors import Spread
from tag2box.methods.localizers import GaussianBackground, VmfBackground, raw_features, tukey_features
from tag2box.methods.rivals import AppearanceObjectness
from tag2box.sphere import VonMisesFisher

FORMAT = "tag2box-ingredients-2"


@final
@dataclass(frozen=True, eq=False)
class Ingredients:
    """Backgrounds of every kind, the mean of the base features, and objectness by appearance."""

    fingerprint: str
    """Of the extractor whose features they were fitted on"""
    center: Array
    """(d,)"""
    background: VmfBackground
    """On centred features"""
    gaussian: GaussianBackground
    """On features at their own length"""
    tukey: GaussianBackground
    """On their roots"""
    objectness: AppearanceObjectness
    spread: Spread
    """Of centred features"""


def save_ingredients(path: Path, known: Ingredients) -> None:
    """Write ingredients, atomically."""
    vmf = known.background.vmf
    tensors = {
        "center": known.center,
        "background": vmf.kappa * vmf.mean,
        "gaussian": np.append(known.gaussian.mean, known.gaussian.sigma),
        "tukey": np.append(known.tukey.mean, known.tukey.sigma),
        "objectness": np.append(known.objectness.weights, known.objectness.bias),
        "spread": np.vstack([known.spread.mean, known.spread.covariance]),
    }
    arrays = {name: np.ascontiguousarray(values, dtype=np.float64) for name, values in tensors.items()}
    with replacing(path) as temporary:
        temporary.write_bytes(save(arrays, metadata={"format": FORMAT, "fingerprint": known.fingerprint}))


def load_ingredients(path: Path) -> Ingredients:
    """Read ingredients; a file of another kind, or a damaged one, is refused by name."""
    try:
        values, metadata = read_tensors(path, FORMAT)
        return _ingredients(metadata["fingerprint"], values)
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise BackgroundFileError(
            f"{path} cannot be read as ingredients: {reason_of(error)}",
            f"a file of format {FORMAT!r}",
            "delete it; the next run fits it again.",
        ) from error


def _ingredients(fingerprint: str, values: dict[str, Array]) -> Ingredients:
    kappa = float(np.linalg.norm(values["background"]))
    vmf = VonMisesFisher(values["background"] / kappa, kappa)
    return Ingredients(
        fingerprint,
        values["center"],
        VmfBackground(vmf),
        GaussianBackground(values["gaussian"][:-1], float(values["gaussian"][-1]), raw_features),
        GaussianBackground(values["tukey"][:-1], float(values["tukey"][-1]), tukey_features),
        AppearanceObjectness(values["objectness"][:-1], float(values["objectness"][-1])),
        Spread(values["spread"][0], values["spread"][1:]),
    )

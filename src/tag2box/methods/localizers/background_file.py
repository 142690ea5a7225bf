"""A fitted background on disk: safetensors with a few kilobytes.

H = components, d = feature dimension
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save

from tag2box.arrays import Array, frozen, require_shape
from tag2box.errors import BackgroundFileError, reason_of
from tag2box.files import read_tensors, replacing
from tag2box.methods.localizers.backgrounds import Background, MixtureBackground, VmfBackground
from tag2box.sphere import VmfMixture, VonMisesFisher

FORMAT = "tag2box-background-1"


@final
@dataclass(frozen=True, eq=False)
class FittedBackground:
    """What background looks like to one extractor, and what to subtract from features first."""

    fingerprint: str
    """Of the extractor whose features it was fitted on."""
    mixture: VmfMixture
    center: Array | None
    """(d,), mean of the base features, if the mixture was fitted on centred ones"""
    images: int
    regions: int
    """How much it was fitted on."""

    def __post_init__(self) -> None:
        if self.center is not None:
            object.__setattr__(self, "center", frozen(self.center, np.float64))
            require_shape("base mean", self.center, (self.mixture.means.shape[1],))

    @property
    def model(self) -> Background:
        """The paper's single vMF, or a mixture if there are several components."""
        if len(self.mixture.shares) > 1:
            return MixtureBackground(self.mixture)
        return VmfBackground(VonMisesFisher(self.mixture.means[0], float(self.mixture.kappas[0])))


def save_background(path: Path, fitted: FittedBackground) -> None:
    """Write a background, atomically."""
    tensors = {name: np.array(getattr(fitted.mixture, name)) for name in ("shares", "means", "kappas")}
    if fitted.center is not None:
        tensors["center"] = np.array(fitted.center)
    facts = {"fingerprint": fitted.fingerprint, "images": fitted.images, "regions": fitted.regions}
    content = save(tensors, metadata={"format": FORMAT, "facts": json.dumps(facts)})
    try:
        with replacing(path) as temporary:
            temporary.write_bytes(content)
    except OSError as error:
        raise BackgroundFileError(
            f"{path} cannot be written: {reason_of(error)}.", "a folder with room", "choose another folder."
        ) from error


def load_background(path: Path) -> FittedBackground:
    """Read a background; a file of another kind, or a damaged one, is refused by name."""
    try:
        tensors, metadata = read_tensors(path, FORMAT)
        facts = json.loads(metadata["facts"])
        mixture = VmfMixture(tensors["shares"], tensors["means"], tensors["kappas"])
        numbers = int(facts["images"]), int(facts["regions"])
        return FittedBackground(str(facts["fingerprint"]), mixture, tensors.get("center"), *numbers)
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise BackgroundFileError(
            f"{path} cannot be read as a background: {reason_of(error)}",
            f"a file of format {FORMAT!r}",
            "fit it again with tag2box background.",
        ) from error

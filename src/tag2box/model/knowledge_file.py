"""What a model knows of base regions, on disk: one safetensors file of about a megabyte.

H = components of the background, d = feature dimension
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError

from tag2box.arrays import Array
from tag2box.errors import ModelError, reason_of
from tag2box.files import read_tensors, replacing, tensor_bytes
from tag2box.methods.knowledge import Knowledge
from tag2box.methods.localizers import GaussianBackground, MixtureBackground, VmfBackground
from tag2box.methods.rivals import AppearanceObjectness
from tag2box.methods.spread import Spread
from tag2box.methods.view import raw_features, tukey_features
from tag2box.sphere import VmfMixture, VonMisesFisher

KNOWLEDGE_NAME = "knowledge.safetensors"
"""In the folder of a model."""
FORMAT = "tag2box-knowledge-3"

Tensors = dict[str, npt.NDArray[Any]]


def save_knowledge(path: Path, known: Knowledge) -> None:
    """Write what is known, atomically; of the spread and of kinship seven digits are kept, of all else every one."""
    facts = {"fingerprint": known.fingerprint, "images": known.images, "regions": known.regions}
    content = tensor_bytes(_tensors(known), {"format": FORMAT, "facts": json.dumps(facts)})
    try:
        with replacing(path) as temporary:
            temporary.write_bytes(content)
    except OSError as error:
        raise ModelError(
            f"{path} cannot be written: {reason_of(error)}.", "a folder with room", "choose another folder."
        ) from error


def load_knowledge(path: Path) -> Knowledge:
    """Read what is known; a file of another kind, or a damaged one, is refused by name."""
    try:
        tensors, metadata = read_tensors(path, FORMAT)
        facts = json.loads(metadata["facts"])
        return _knowledge(tensors, str(facts["fingerprint"]), int(facts["images"]), int(facts["regions"]))
    except (OSError, ValueError, KeyError, TypeError, IndexError, SafetensorError) as error:
        raise ModelError(
            f"{path} cannot be read as what a model knows: {reason_of(error)}.",
            f"a file of format {FORMAT!r}",
            "copy the model's folder again, as a whole, or make it with tag2box model make.",
        ) from error


def knowledge_hash(known: Knowledge) -> str:
    """A hash of all that is known: the same knowledge, the same hash, whenever it was written."""
    digest = hashlib.sha256(known.fingerprint.encode())
    for name, values in sorted(_tensors(known).items()):
        digest.update(name.encode() + values.tobytes())
    return digest.hexdigest()


def _tensors(known: Knowledge) -> Tensors:
    mixture = _mixture(known.background)
    exact = {
        "shares": mixture.shares,
        "means": mixture.means,
        "kappas": mixture.kappas,
        "plain": np.append(known.plain.vmf.mean, known.plain.vmf.kappa),
        "gaussian": np.append(known.gaussian.mean, known.gaussian.sigma),
        "tukey": np.append(known.tukey.mean, known.tukey.sigma),
        "objectness": np.append(known.objectness.weights, known.objectness.bias),
    }
    if known.center is not None:
        exact["center"] = known.center
    spread = known.spread
    rounded = {"spread_mean": spread.mean, "spread_covariance": spread.covariance, "kinship": known.kinship}
    return {name: np.array(values, np.float64, order="C") for name, values in exact.items()} | {
        name: np.array(values, np.float32, order="C") for name, values in rounded.items()
    }


def _knowledge(tensors: Tensors, fingerprint: str, images: int, regions: int) -> Knowledge:
    return Knowledge(
        fingerprint,
        tensors.get("center"),
        _background(VmfMixture(tensors["shares"], tensors["means"], tensors["kappas"])),
        VmfBackground(VonMisesFisher(*_with_last_apart(tensors["plain"]))),
        Spread(tensors["spread_mean"], tensors["spread_covariance"]),
        tensors["kinship"],
        GaussianBackground(*_with_last_apart(tensors["gaussian"]), raw_features),
        GaussianBackground(*_with_last_apart(tensors["tukey"]), tukey_features),
        AppearanceObjectness(*_with_last_apart(tensors["objectness"])),
        images,
        regions,
    )


def _mixture(background: VmfBackground | MixtureBackground) -> VmfMixture:
    if isinstance(background, MixtureBackground):
        return background.mixture
    return VmfMixture(np.ones(1), background.vmf.mean[None], np.array([background.vmf.kappa]))


def _background(mixture: VmfMixture) -> VmfBackground | MixtureBackground:
    """The paper's single vMF, or a mixture if there are several components."""
    if len(mixture.shares) > 1:
        return MixtureBackground(mixture)
    return VmfBackground(VonMisesFisher(mixture.means[0], float(mixture.kappas[0])))


def _with_last_apart(values: Array) -> tuple[Array, float]:
    return values[:-1], float(values[-1])

"""The networks of rivals, trained once for an extractor on its base photos, and kept beside its features."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy.typing as npt
from safetensors import SafetensorError

from tag2box.errors import ModelError, reason_of
from tag2box.files import read_tensors, replacing, tensor_bytes
from tag2box.methods.rivals import BaseClassifiers, RelationNetwork, Schooling, SilcoNetwork

SCHOOLING_NAME = "rivals.safetensors"
FORMAT = "tag2box-rivals-1"
PARTS = {"relations": RelationNetwork, "classifiers": BaseClassifiers}
SILCO = "silco"


def save_schooling(path: Path, learned: Schooling, facts: dict[str, Any]) -> None:
    """Write what rivals learned, atomically, and how."""
    content = tensor_bytes(_tensors(learned), {"format": FORMAT, "facts": json.dumps(facts, sort_keys=True)})
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def load_schooling(path: Path) -> Schooling:
    """Read it; a file of another kind, or a damaged one, is refused by name."""
    try:
        tensors, _ = read_tensors(path, FORMAT)
        parts = {
            part: kind(**{each.name: tensors[f"{part}.{each.name}"] for each in fields(kind)})
            for part, kind in PARTS.items()
        }
        own = {name.removeprefix(f"{SILCO}."): values for name, values in tensors.items() if name.startswith(SILCO)}
        return Schooling(**parts, silco=SilcoNetwork(own))
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise ModelError(
            f"{path} cannot be read as what rivals learned: {reason_of(error)}.",
            f"a file of format {FORMAT!r}",
            "remove it: the next tag2box bench run trains them again.",
        ) from error


def schooling_facts(path: Path) -> dict[str, Any]:
    """How it was learned; nothing if it was not, or by a file that cannot be read."""
    try:
        facts: dict[str, Any] = json.loads(read_tensors(path, FORMAT)[1]["facts"])
    except (OSError, ValueError, KeyError, SafetensorError):
        return {}
    return facts


def schooling_hash(learned: Schooling) -> str:
    """The same networks, the same hash."""
    digest = hashlib.sha256()
    for name, values in sorted(_tensors(learned).items()):
        digest.update(name.encode() + values.tobytes())
    return digest.hexdigest()


def _tensors(learned: Schooling) -> dict[str, npt.NDArray[Any]]:
    tensors = {f"{SILCO}.{name}": values for name, values in learned.silco.tensors.items()}
    for part in PARTS:
        network = getattr(learned, part)
        tensors |= {f"{part}.{each.name}": getattr(network, each.name) for each in fields(network)}
    return tensors

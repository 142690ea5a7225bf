"""One shard on disk: an immutable safetensors file that describes itself.

m = images, n = regions of all images, d = feature dimension. The layout is in docs/store.md.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from safetensors.numpy import save

from tag2box.errors import DamagedStoreError, InputError, StoreError, reason_of
from tag2box.files import replacing
from tag2box.store.layout import TENSORS, Layout, Tensors, read_layout
from tag2box.types import ProposalBag

REMEDY = "delete this file and run the extraction again: only its images are extracted anew."


@final
@dataclass(frozen=True)
class Entry:
    """One image of a shard."""

    image_id: str
    source_hash: str
    """Hash of the file that the regions come from; empty if there is none."""
    height: float
    width: float


@final
@dataclass(frozen=True)
class Shard:
    """A sealed shard; its tensors are mapped into memory when they are asked for."""

    path: Path
    fingerprint: str
    entries: tuple[Entry, ...]
    layout: Layout

    @property
    def dimension(self) -> int:
        """Length d of a feature."""
        return self.layout.places["features"][1][1]

    def bags(self, places: Iterable[int]) -> Iterator[ProposalBag]:
        """The regions of the images at ``places`` in the shard."""
        tensors = self._tensors()
        for place in places:
            yield self._bag(tensors, place)

    def require_sound(self) -> None:
        """Refuse a shard of which any byte or any bag is not as it was sealed."""
        found, sealed = checksum(self.layout.metadata, self._tensors()), self.layout.metadata["sha256"]
        if found != sealed:
            raise DamagedStoreError(
                f"shard {self.path} has changed since it was sealed: its SHA-256 is {found}.", sealed, REMEDY
            )
        for _ in self.bags(range(len(self.entries))):
            pass

    def _tensors(self) -> Tensors:
        try:
            return self.layout.map(self.path)
        except (OSError, ValueError) as error:
            raise damaged(self.path, error) from error

    def _bag(self, tensors: Tensors, place: int) -> ProposalBag:
        rows = slice(*tensors["offsets"][place : place + 2].tolist())
        features = tensors["features"][rows].astype(np.float32)
        objectness = tensors["objectness"][rows].astype(np.float32)
        image_id = self.entries[place].image_id
        try:
            return ProposalBag(image_id, tensors["boxes"][rows], features, objectness, tensors["norms"][rows])
        except InputError as error:
            raise damaged(self.path, error) from error


def write_shard(path: Path, fingerprint: str, bags: Sequence[ProposalBag], source_hashes: Sequence[str]) -> None:
    """Write and seal a shard: it is there whole, or not at all."""
    tensors = {
        "features": np.concatenate([bag.features for bag in bags]).astype(np.float16),
        "boxes": np.concatenate([bag.boxes for bag in bags]),
        "objectness": np.concatenate([bag.objectness for bag in bags]).astype(np.float16),
        "norms": np.concatenate([bag.norms for bag in bags]),
        "offsets": np.concatenate([[0], np.cumsum([len(bag) for bag in bags])]).astype(np.int64),
    }
    entries = [Entry(bag.image_id, source, *bag.size) for bag, source in zip(bags, source_hashes, strict=True)]
    images = json.dumps([asdict(entry) for entry in entries])
    metadata = {"fingerprint": fingerprint, "images": images}
    content = save(tensors, metadata={**metadata, "sha256": checksum(metadata, tensors)})
    try:
        with replacing(path) as temporary:
            temporary.write_bytes(content)
    except OSError as error:
        raise StoreError(
            f"shard {path} cannot be written: {error}.",
            "a folder with room, in which files may be made",
            "make room or choose another folder; shards that were sealed before are safe.",
        ) from error


def open_shard(path: Path) -> Shard:
    """Read what a shard says of itself; a truncated or foreign file is refused by name."""
    try:
        layout = read_layout(path)
        entries = tuple(_entry(fields) for fields in json.loads(layout.metadata["images"]))
        _require_consistent(len(entries), layout.map(path))
        return Shard(path, layout.metadata["fingerprint"], entries, layout)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise damaged(path, error) from error


def checksum(metadata: dict[str, str], tensors: Tensors) -> str:
    """SHA-256 over fingerprint, images and tensors: everything that the shard says."""
    digest = hashlib.sha256(json.dumps([metadata["fingerprint"], metadata["images"]]).encode())
    for name in TENSORS:
        digest.update(np.ascontiguousarray(tensors[name]).data)
    return digest.hexdigest()


def damaged(path: Path, error: Exception) -> DamagedStoreError:
    """The error for a shard that cannot be used."""
    return DamagedStoreError(
        f"shard {path} cannot be read: {reason_of(error)}", "a whole shard, as it was sealed", REMEDY
    )


def _entry(fields: dict[str, Any]) -> Entry:
    entry = Entry(**fields)
    if not (isinstance(entry.image_id, str) and isinstance(entry.source_hash, str)):
        raise TypeError(f"an image is described by {fields!r}")
    return entry


def _require_consistent(images: int, tensors: Tensors) -> None:
    offsets, rows = tensors["offsets"], len(tensors["features"])
    lengths = {len(tensors[name]) for name in ("boxes", "objectness", "norms")}
    if lengths != {rows} or tensors["features"].ndim != 2 or tensors["boxes"].shape[1:] != (4,):
        raise ValueError("its tensors do not fit together")
    if offsets.shape != (images + 1,) or offsets[0] != 0 or offsets[-1] != rows or (np.diff(offsets) <= 0).any():
        raise ValueError("its offsets do not divide the rows among its images")

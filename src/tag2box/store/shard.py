"""One shard on disk: an immutable safetensors file that describes itself, checked before anything of it is used.

m = images, n = regions of all images, d = feature dimension. The layout is in docs/store.md. The file is safetensors: 8
bytes with the length of the header, the header in JSON, the tensors.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt

from tag2box.errors import DamagedStoreError, InputError, StoreError, reason_of
from tag2box.files import HEADER_BYTES, replacing, tensor_bytes
from tag2box.types import ProposalBag

Tensors = dict[str, npt.NDArray[Any]]

DTYPES: dict[str, np.dtype[Any]] = {"F16": np.dtype("<f2"), "F32": np.dtype("<f4"), "I64": np.dtype("<i8")}
TENSORS = {"features": "F16", "boxes": "F32", "objectness": "F16", "norms": "F32", "offsets": "I64"}
REMEDY = "delete this file and run the extraction again: only its images are extracted anew."


@final
@dataclass(frozen=True)
class Layout:
    """Metadata of a shard, and place and shape of each tensor."""

    metadata: dict[str, str]
    places: dict[str, tuple[int, tuple[int, ...]]]
    """Tensor name → first byte in the file, shape."""

    def map(self, path: Path) -> Tensors:
        """Read-only views of the tensors; nothing is read until it is touched."""
        content = np.memmap(path, dtype=np.uint8, mode="r")
        return {name: self._view(content, name) for name in self.places}

    def _view(self, content: npt.NDArray[np.uint8], name: str) -> npt.NDArray[Any]:
        first, shape = self.places[name]
        dtype = DTYPES[TENSORS[name]]
        return content[first : first + math.prod(shape) * dtype.itemsize].view(dtype).reshape(shape)


@final
@dataclass(frozen=True)
class Entry:
    """One image of a shard."""

    image_id: str
    source_hash: str
    """Hash of the file that the regions come from; empty if there is none."""
    height: int
    width: int


@final
@dataclass(frozen=True, eq=False)
class Shard:
    """A sealed shard; whoever reads from it maps its tensors into memory first."""

    path: Path
    fingerprint: str
    entries: tuple[Entry, ...]
    layout: Layout

    @property
    def dimension(self) -> int:
        """Length d of a feature."""
        return self.layout.places["features"][1][1]

    @property
    def regions(self) -> int:
        """Regions n of all its images."""
        return self.layout.places["features"][1][0]

    def map(self) -> Tensors:
        """Read-only views of the tensors; a file stays open as long as any of them lives."""
        try:
            return self.layout.map(self.path)
        except (OSError, ValueError) as error:
            raise damaged(self.path, error) from error

    def bag(self, tensors: Tensors, place: int) -> ProposalBag:
        """The regions of the image at ``place``; nothing of ``tensors``, which ``map`` gave, lives on in it."""
        rows = _own_rows(tensors, place)
        kept = {name: tensors[name][rows] for name in ("boxes", "features", "objectness", "norms")}
        try:
            return ProposalBag.trusted(self.entries[place].image_id, **kept)
        except InputError as error:
            raise damaged(self.path, error) from error

    def rows(self, tensors: Tensors, place: int) -> npt.NDArray[Any]:
        """(n, d) the features of the image at ``place``, as ``map`` gave them."""
        return tensors["features"][_own_rows(tensors, place)]

    def require_sound(self) -> None:
        """Refuse a shard of which any byte or any bag is not as it was sealed."""
        tensors = self.map()
        found, sealed = checksum(self.layout.metadata, tensors), self.layout.metadata["sha256"]
        if found != sealed:
            raise DamagedStoreError(
                f"shard {self.path} has changed since it was sealed: its SHA-256 is {found}.", sealed, REMEDY
            )
        for place in range(len(self.entries)):
            bag = self.bag(tensors, place)
            try:
                ProposalBag(bag.image_id, bag.boxes, bag.directions.rows, bag.objectness, bag.norms)
            except InputError as error:
                raise damaged(self.path, error) from error


def _own_rows(tensors: Tensors, place: int) -> slice:
    """Which rows of the tensors belong to the image at ``place``."""
    return slice(*tensors["offsets"][place : place + 2].tolist())


def as_stored(bag: ProposalBag) -> ProposalBag:
    """The bag as a store gives it back: features and objectness have lost the digits that float16 has no room for."""
    features, objectness = bag.directions.rows.astype(np.float16), bag.objectness.astype(np.float16)
    return ProposalBag.trusted(bag.image_id, bag.boxes, features, objectness, bag.norms)


def write_shard(path: Path, fingerprint: str, bags: Sequence[ProposalBag], source_hashes: Sequence[str]) -> None:
    """Write and seal a shard: it is there whole, or not at all."""
    tensors = {
        "features": np.concatenate([bag.directions.rows for bag in bags]).astype(np.float16),
        "boxes": np.concatenate([bag.boxes for bag in bags]),
        "objectness": np.concatenate([bag.objectness for bag in bags]).astype(np.float16),
        "norms": np.concatenate([bag.norms for bag in bags]),
        "offsets": np.concatenate([[0], np.cumsum([len(bag) for bag in bags])]).astype(np.int64),
    }
    entries = [Entry(bag.image_id, source, *bag.size) for bag, source in zip(bags, source_hashes, strict=True)]
    images = json.dumps([asdict(entry) for entry in entries])
    metadata = {"fingerprint": fingerprint, "images": images}
    content = tensor_bytes(tensors, {**metadata, "sha256": checksum(metadata, tensors)})
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
        fingerprint, _ = layout.metadata["fingerprint"], layout.metadata["sha256"]
        return Shard(path, fingerprint, entries, layout)
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
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
    """One image as the shard describes it; older shards hold a size that rounding has spoiled."""
    entry = Entry(**fields | {name: round(float(fields[name])) for name in ("height", "width")})
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


def read_layout(path: Path) -> Layout:
    """The layout of a shard that is as long as it should be; else ValueError, KeyError or TypeError."""
    header, begin = _read_header(path)
    size = path.stat().st_size
    places = {name: _place(header[name], code, begin, size) for name, code in TENSORS.items()}
    end = begin + max(int(header[name]["data_offsets"][1]) for name in TENSORS)
    if end != size:
        raise ValueError(f"it has {size} bytes and should have {end}")
    return Layout(dict(header["__metadata__"]), places)


def _read_header(path: Path) -> tuple[dict[str, Any], int]:
    """The JSON header and the place where the tensors begin."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(HEADER_BYTES), "little")
        if size < HEADER_BYTES or length > size - HEADER_BYTES:
            raise ValueError(f"it has {size} bytes, its header alone should have {length + HEADER_BYTES}")
        header = json.loads(file.read(length))
    if not isinstance(header, dict):
        raise TypeError("its header is not a JSON object")
    return header, HEADER_BYTES + length


def _place(described: dict[str, Any], code: str, begin: int, size: int) -> tuple[int, tuple[int, ...]]:
    """First byte and shape of one tensor."""
    if described["dtype"] != code:
        raise ValueError(f"a tensor has dtype {described['dtype']}, not {code}")
    shape = tuple(int(length) for length in described["shape"])
    first, last = (int(place) for place in described["data_offsets"])
    wanted = math.prod(shape) * DTYPES[code].itemsize
    if first < 0 or min(shape) < 0 or last - first != wanted:
        raise ValueError(f"a tensor of shape {shape} was said to lie at bytes {first} to {last}")
    if begin + last > size:
        raise ValueError(f"it has {size} bytes and should have at least {begin + last}")
    return begin + first, shape

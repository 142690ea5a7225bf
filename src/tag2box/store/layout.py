"""Where the tensors of a shard lie in its file, checked before anything is read.

The file is safetensors: 8 bytes with the length of the header, the header in JSON, the tensors. Everything here
raises ValueError, KeyError or TypeError on a file that is not as it should be.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt

Tensors = dict[str, npt.NDArray[Any]]

DTYPES: dict[str, np.dtype[Any]] = {"F16": np.dtype("<f2"), "F32": np.dtype("<f4"), "I64": np.dtype("<i8")}
TENSORS = {"features": "F16", "boxes": "F32", "objectness": "F16", "norms": "F32", "offsets": "I64"}
LENGTH_BYTES = 8


@final
@dataclass(frozen=True)
class Layout:
    """Metadata of a shard, and place and shape of each tensor."""

    metadata: dict[str, str]
    places: dict[str, tuple[int, tuple[int, ...]]]
    """Tensor name → first byte in the file, shape."""

    def map(self, path: Path) -> Tensors:
        """Read-only views of the tensors; nothing is read until it is touched, and no file stays open."""
        content = np.memmap(path, dtype=np.uint8, mode="r")
        return {name: self._view(content, name) for name in self.places}

    def _view(self, content: npt.NDArray[np.uint8], name: str) -> npt.NDArray[Any]:
        first, shape = self.places[name]
        dtype = DTYPES[TENSORS[name]]
        return content[first : first + math.prod(shape) * dtype.itemsize].view(dtype).reshape(shape)


def read_layout(path: Path) -> Layout:
    """The layout of a shard whose file is long enough for all its tensors."""
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
        length = int.from_bytes(file.read(LENGTH_BYTES), "little")
        if size < LENGTH_BYTES or length > size - LENGTH_BYTES:
            raise ValueError(f"it has {size} bytes, its header alone should have {length + LENGTH_BYTES}")
        header = json.loads(file.read(length))
    if not isinstance(header, dict):
        raise TypeError("its header is not a JSON object")
    return header, LENGTH_BYTES + length


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

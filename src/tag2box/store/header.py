"""The header of a store: which extractor wrote it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import final

from tag2box.errors import DamagedStoreError, ForeignStoreError, StoreError
from tag2box.files import write_json

FORMAT = "tag2box-store-1"
HEADER_NAME = "store.json"


@final
@dataclass(frozen=True)
class StoreHeader:
    """Everything that two stores must share for their features to compare."""

    fingerprint: str
    """Hash of the extractor's weights and settings."""
    dimension: int
    """Length d of a feature."""
    format: str = FORMAT

    def __post_init__(self) -> None:
        if not isinstance(self.fingerprint, str) or not isinstance(self.dimension, int) or self.dimension < 1:
            raise StoreError(
                f"a store was described by fingerprint {self.fingerprint!r} and dimension {self.dimension!r}.",
                "a text and a whole number of at least 1",
                "take both from the extractor.",
            )


def write_header(folder: Path, header: StoreHeader) -> None:
    """Write the header, atomically."""
    write_json(folder / HEADER_NAME, asdict(header))


def read_header(folder: Path) -> StoreHeader:
    """Read the header; a folder that is no store is refused."""
    path = folder / HEADER_NAME
    if not path.is_file():
        raise StoreError(
            f"{folder} is not a feature store: it has no {HEADER_NAME}.",
            "a folder written by tag2box extract",
            "check the path, or extract the images first.",
        )
    try:
        header = StoreHeader(**json.loads(path.read_text(encoding="utf-8")))
        if header.format != FORMAT:
            raise ValueError(f"the format is {header.format!r}")
    except (OSError, ValueError, TypeError) as error:
        raise DamagedStoreError(
            f"{path} cannot be read: {error}.",
            f"a header of format {FORMAT!r} with fingerprint and dimension",
            "restore the file, or extract the images again into a new folder.",
        ) from error
    return header


def require_same(folder: Path, found: StoreHeader, wanted: StoreHeader) -> None:
    """Refuse a store of another extractor: its features do not compare with ours."""
    if found != wanted:
        raise ForeignStoreError(
            f"{folder} was written by extractor {found.fingerprint!r} with {found.dimension} dimensions.",
            f"extractor {wanted.fingerprint!r} with {wanted.dimension} dimensions",
            "use the extractor that wrote the store, or extract the images again into a new folder.",
        )

"""Writing a feature store: append, seal, and go on after any interruption."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Self, final

from tag2box.arrays import require_shape
from tag2box.errors import BusyStoreError, StoreError
from tag2box.files import TEMPORARY_SUFFIX, take_lock
from tag2box.store.header import HEADER_NAME, StoreHeader, read_header, require_same, write_header
from tag2box.store.reader import FeatureStore
from tag2box.store.shard import write_shard
from tag2box.types import ProposalBag

SHARD_BYTES = 256 * 1024**2


@final
class StoreWriter:
    """Appends bags to a store; use it in a ``with`` block, which seals the rest at its end.

    Sealed shards survive anything. What was appended after the last seal is lost in a crash and must be appended
    again: ``image_id in writer`` tells. One process writes at a time; the lock ends with the process.
    """

    def __init__(self, folder: Path, header: StoreHeader, *, shard_bytes: int = SHARD_BYTES) -> None:
        """Open ``folder`` for appending, or make a new store there."""
        self.folder = folder
        self.header = header
        self._shard_bytes = shard_bytes
        self._lock: int | None = _lock(folder)
        try:
            self._open()
        except BaseException:
            os.close(self._lock)
            self._lock = None
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __contains__(self, image_id: object) -> bool:
        return image_id in self._ids

    def append(self, bag: ProposalBag, source_hash: str = "") -> None:
        """Add the regions of an image; a full shard is sealed at once."""
        self._require_open()
        require_shape(f"features of image {bag.image_id!r}", bag.directions.rows, (None, self.header.dimension))
        if bag.image_id in self._ids:
            raise StoreError(
                f"image {bag.image_id!r} is in the store {self.folder} already.",
                "every image once",
                "skip the images for which `image_id in writer` holds.",
            )
        self._ids.add(bag.image_id)
        self._bags.append(bag)
        self._source_hashes.append(source_hash)
        self._bytes += len(bag) * (2 * bag.dimension + 22)  # bytes of a row in the shard
        if self._bytes >= self._shard_bytes:
            self.seal()

    def seal(self) -> None:
        """Put everything appended so far on the disk for good."""
        self._require_open()
        if not self._bags:
            return
        path = self.folder / f"shard-{self._next_shard:06d}.safetensors"
        write_shard(path, self.header.fingerprint, self._bags, self._source_hashes)
        self._next_shard += 1
        self._begin_shard()

    def close(self) -> None:
        """Seal the rest and let other processes write; a closed writer stays closed."""
        if self._lock is None:
            return
        try:
            self.seal()
        finally:
            os.close(self._lock)
            self._lock = None

    def _require_open(self) -> None:
        if self._lock is None:
            raise StoreError(
                f"the writer of {self.folder} is closed.", "an open writer", "open a new one: it resumes the store."
            )

    def _open(self) -> None:
        for leftover in self.folder.glob(f".*{TEMPORARY_SUFFIX}"):
            leftover.unlink()
        if (self.folder / HEADER_NAME).exists():
            require_same(self.folder, read_header(self.folder), self.header)
        else:
            write_header(self.folder, self.header)
        store = FeatureStore(self.folder)
        self._ids = set(store.image_ids)
        self._next_shard = 1 + max((int(shard.path.stem.split("-")[1]) for shard in store.shards), default=-1)
        self._begin_shard()

    def _begin_shard(self) -> None:
        self._bags: list[ProposalBag] = []
        self._source_hashes: list[str] = []
        self._bytes = 0


def _lock(folder: Path) -> int:
    """Take the store's lock; the system gives it back when the process ends, however it ends."""
    try:
        return take_lock(folder)
    except BlockingIOError:
        raise BusyStoreError(
            f"another process is writing to {folder}.",
            "one writer at a time",
            "wait until it is done, or write to another folder.",
        ) from None
    except OSError as error:
        raise StoreError(
            f"{folder} cannot be used as a feature store: {error}.",
            "a folder in which files may be made",
            "choose another folder.",
        ) from error

"""Reading a feature store: any bag at once, or all of them in order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import final

from tag2box.errors import DamagedStoreError, ForeignStoreError, StoreError
from tag2box.store.header import StoreHeader, read_header, require_same
from tag2box.store.keeping import MOST_BYTES, KeptBags
from tag2box.store.shard import Entry, Shard, open_shard
from tag2box.types import ProposalBag

SHARD_PATTERN = "shard-[0-9]*.safetensors"
MAPPED = 16
"""Shards that stay mapped, those last used: each takes an open file."""


@final
class FeatureStore:
    """A folder of sealed shards, read through memory maps."""

    def __init__(self, folder: Path, expected: StoreHeader | None = None, *, room: int = MOST_BYTES) -> None:
        """Open ``folder``; with ``expected``, refuse a store of another extractor.

        Bags that were read are kept as far as there is ``room``, in bytes.
        """
        self.folder = folder
        self.header = read_header(folder)
        if expected is not None:
            require_same(folder, self.header, expected)
        self.shards = tuple(open_shard(path) for path in sorted(folder.glob(SHARD_PATTERN)))
        self._tensors = lru_cache(maxsize=MAPPED)(Shard.map)
        self._kept = KeptBags(room)
        self._places: dict[str, tuple[Shard, int]] = {}
        for shard in self.shards:
            self._admit(shard)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, image_id: object) -> bool:
        return image_id in self._places

    @property
    def image_ids(self) -> tuple[str, ...]:
        """Ids of all images, in the order in which they were written."""
        return tuple(self._places)

    def entry(self, image_id: str) -> Entry:
        """What the store knows of an image besides its regions."""
        shard, place = self._place(image_id)
        return shard.entries[place]

    def size(self, image_id: str) -> tuple[int, int]:
        """Height and width of an image, in pixels."""
        entry = self.entry(image_id)
        return entry.height, entry.width

    def bag(self, image_id: str) -> ProposalBag:
        """The regions of one image; those that were asked for last are not read again."""
        return self._kept.bag(image_id, self._read)

    def lean_bag(self, image_id: str) -> ProposalBag:
        """The same, but its features stay on disk, and are mapped whenever they are looked at."""
        shard, place = self._place(image_id)
        return self._read(image_id).lean(lambda: shard.rows(self._tensors(shard), place))

    def _read(self, image_id: str) -> ProposalBag:
        shard, place = self._place(image_id)
        return shard.bag(self._tensors(shard), place)

    def scan(self) -> Iterator[ProposalBag]:
        """All bags, in the order in which they were written."""
        for shard in self.shards:
            for place in range(len(shard.entries)):
                yield shard.bag(self._tensors(shard), place)

    def verify(self) -> Iterator[Shard]:
        """Check every byte and every bag; yields each shard that is sound and refuses the first that is not."""
        for shard in self.shards:
            shard.require_sound()
            yield shard

    def _admit(self, shard: Shard) -> None:
        if (shard.fingerprint, shard.dimension) != (self.header.fingerprint, self.header.dimension):
            raise ForeignStoreError(
                f"shard {shard.path} is of extractor {shard.fingerprint!r} with {shard.dimension} dimensions.",
                f"extractor {self.header.fingerprint!r} with {self.header.dimension} dimensions, as the store says",
                "move the file out of this folder.",
            )
        for place, entry in enumerate(shard.entries):
            if entry.image_id in self._places:
                first = self._places[entry.image_id][0].path.name
                raise DamagedStoreError(
                    f"image {entry.image_id!r} is in {first} and in {shard.path.name} of {self.folder}.",
                    "every image once",
                    "move one of the two shards out of the folder.",
                )
            self._places[entry.image_id] = (shard, place)

    def _place(self, image_id: str) -> tuple[Shard, int]:
        try:
            return self._places[image_id]
        except KeyError:
            raise StoreError(
                f"image {image_id!r} is not in the store {self.folder}.",
                f"one of its {len(self)} images",
                "extract the image into this store first.",
            ) from None

"""Regions and features on disk."""

from tag2box.store.header import StoreHeader, read_header, require_same
from tag2box.store.keeping import memory_bytes, room_for_bags
from tag2box.store.reader import FeatureStore
from tag2box.store.shard import Entry, Shard, as_stored, open_shard, write_shard
from tag2box.store.writer import StoreWriter

__all__ = [
    "Entry",
    "FeatureStore",
    "Shard",
    "StoreHeader",
    "StoreWriter",
    "as_stored",
    "memory_bytes",
    "open_shard",
    "read_header",
    "require_same",
    "room_for_bags",
    "write_shard",
]

"""Bags that are kept: the same ones, and no more of them than there is room for."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from samples import random_bags
from tag2box.store import FeatureStore, StoreHeader, StoreWriter, memory_bytes, room_for_bags
from tag2box.store.keeping import MOST_BYTES, KeptBags
from tag2box.types import ProposalBag

BAGS = {bag.image_id: bag for bag in random_bags(0, images=6)}


def size(image: str) -> int:
    bag = BAGS[image]
    return bag.boxes.nbytes + bag.directions.rows.nbytes + bag.objectness.nbytes + bag.norms.nbytes


TWO_BAGS = max(map(size, BAGS)) * 2
FIRST, SECOND, THIRD = sorted(BAGS, key=size)[-3:]


@example([FIRST, SECOND, FIRST, THIRD, FIRST, SECOND], TWO_BAGS)
@given(st.lists(st.sampled_from(sorted(BAGS)), max_size=40), st.integers(0, sum(map(size, BAGS))))
def test_the_last_ones_used_are_kept_as_far_as_there_is_room(asked: list[str], most_bytes: int) -> None:
    reads: list[str] = []

    def read(image: str) -> ProposalBag:
        reads.append(image)
        return BAGS[image]

    kept = KeptBags(most_bytes)
    last: list[str] = []
    """Images by their last use that should be kept, the latest in front."""
    for image in asked:
        known, before = image in last, len(reads)
        assert kept.bag(image, read) is BAGS[image]
        assert len(reads) == before + (not known)
        last = [image, *(other for other in last if other != image)]
        while sum(map(size, last)) > most_bytes:
            last.pop()


def test_a_store_reads_again_what_it_has_no_room_for(tmp_path: Path) -> None:
    with StoreWriter(tmp_path, StoreHeader("extractor-1", 5)) as writer:
        writer.append(BAGS[FIRST])
    roomy, cramped = FeatureStore(tmp_path, room=2**20), FeatureStore(tmp_path, room=0)
    assert roomy.bag(FIRST) is roomy.bag(FIRST)
    assert cramped.bag(FIRST) is not cramped.bag(FIRST)


def test_processes_share_a_part_of_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    assert memory_bytes() is None or (memory_bytes() or 0) > 0
    monkeypatch.setattr("tag2box.store.keeping.memory_bytes", lambda: 64 * MOST_BYTES)
    assert [room_for_bags(processes) for processes in (1, 2, 8, 9)] == [
        8 * MOST_BYTES,
        4 * MOST_BYTES,
        MOST_BYTES,
        MOST_BYTES,
    ]
    monkeypatch.setattr("tag2box.store.keeping.memory_bytes", lambda: None)
    assert room_for_bags(1) == MOST_BYTES

"""Many photos into a store, on all cores, going on where an earlier run stopped."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import final

from tag2box.errors import PhotoError
from tag2box.extract.extractor import Extractor
from tag2box.extract.sources import PhotoFile
from tag2box.progress import Report
from tag2box.store import StoreHeader, StoreWriter
from tag2box.types import ProposalBag

SHARD_BYTES = 64 * 1024**2
"""Smaller than a store's usual shards: what a crash can cost is a minute."""
AHEAD = 4
"""Photos that each worker may be ahead of the writer."""

Result = tuple[ProposalBag, str] | PhotoError


@final
@dataclass(frozen=True)
class BatchOutcome:
    """What became of the photos."""

    written: int
    known: int
    """Were in the store already"""
    unreadable: tuple[PhotoError, ...]


def extract_photos(extractor: Extractor, photos: Sequence[PhotoFile], folder: Path, report: Report) -> BatchOutcome:
    """Append the bags of all photos that the store in ``folder`` lacks; a picture that cannot be read is passed over.

    ``extractor`` should use one thread: each core works on a photo of its own. Bags are written in the order of
    ``photos``, so the store does not depend on the number of cores.
    """
    unreadable: list[PhotoError] = []
    written = 0
    header = StoreHeader(extractor.fingerprint, extractor.card.dimension)
    with StoreWriter(folder, header, shard_bytes=SHARD_BYTES) as writer:
        waiting = [photo for photo in photos if photo.image_id not in writer]
        for done, (_, result) in enumerate(each_result(extractor, waiting), 1):
            if isinstance(result, PhotoError):
                unreadable.append(result)
            else:
                writer.append(*result)
                written += 1
            report(done + len(photos) - len(waiting), {})
    return BatchOutcome(written, len(photos) - len(waiting), tuple(unreadable))


def each_result(extractor: Extractor, photos: Sequence[PhotoFile]) -> Iterator[tuple[PhotoFile, Result]]:
    """Photos with their bags and the hash of their files, or with what is wrong; in order, on all cores."""
    workers = os.cpu_count() or 1
    pending: deque[tuple[PhotoFile, Future[Result]]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for photo in photos:
                pending.append((photo, pool.submit(_result, extractor, photo)))
                if len(pending) >= AHEAD * workers:
                    yield _finished(*pending.popleft())
            while pending:
                yield _finished(*pending.popleft())
        finally:
            for _, future in pending:
                future.cancel()


def _finished(photo: PhotoFile, future: Future[Result]) -> tuple[PhotoFile, Result]:
    return photo, future.result()


def _result(extractor: Extractor, photo: PhotoFile) -> Result:
    try:
        seen = extractor.see_file(photo.path)
        return extractor.bag(seen, photo.image_id), seen.photo.source_hash
    except PhotoError as error:
        return error

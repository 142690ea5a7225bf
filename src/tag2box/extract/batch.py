"""Many photos into a store, on all cores, going on where an earlier run stopped."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Collection, Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import final

from tag2box.data.photo_files import PhotoFile
from tag2box.errors import PhotoError, StoreError
from tag2box.extract.extractor import Extracted, Extractor
from tag2box.extract.photos import photo_hash
from tag2box.progress import Report
from tag2box.rows import one_blas_thread
from tag2box.store import FeatureStore, StoreHeader, StoreWriter, as_stored
from tag2box.types import ProposalBag

SHARD_BYTES = 64 * 1024**2
"""Smaller than a store's usual shards: what a crash can cost is a minute."""
AHEAD = 4
"""Photos that each worker may be ahead of the writer."""
NAMED, SHOWN = 5, 20
"""Photos that an error names in a line, or one below the other; of more it says how many."""

Result = Extracted | PhotoError


@final
@dataclass(frozen=True)
class BatchOutcome:
    """What became of the photos."""

    written: int
    known: int
    """Were in the store already"""
    unreadable: Mapping[str, PhotoError]
    """Photo → what is wrong with it"""


def extract_photos(extractor: Extractor, photos: Sequence[PhotoFile], folder: Path, report: Report) -> BatchOutcome:
    """Append the bags of all photos that the store in ``folder`` lacks; a picture that cannot be read is passed over.

    Photos that the store knows must be the same files as then. ``extractor`` should use one thread: each core works on
    a photo of its own. Bags are written in the order of ``photos``, so the store does not depend on the number of
    cores.
    """
    unreadable: dict[str, PhotoError] = {}
    written = 0
    with StoreWriter(folder, store_header(extractor), shard_bytes=SHARD_BYTES) as writer:
        require_unchanged(FeatureStore(folder), photos)
        waiting = [photo for photo in photos if photo.image_id not in writer]
        for done, (photo, result) in enumerate(each_result(extractor, waiting), 1):
            if isinstance(result, PhotoError):
                unreadable[photo.image_id] = result
            else:
                writer.append(result.bag, result.source_hash)
                written += 1
            report(done + len(photos) - len(waiting), {})
    return BatchOutcome(written, len(photos) - len(waiting), unreadable)


def each_bag(
    extractor: Extractor, photos: Sequence[PhotoFile], folder: Path
) -> Generator[tuple[PhotoFile, ProposalBag | PhotoError]]:
    """Photos with their bags as a store keeps them, or with what is wrong; what is done stays in ``folder``.

    Close the iterator to put away what is done; a bag is the same whether it was there before or not.
    """
    with StoreWriter(folder, store_header(extractor), shard_bytes=SHARD_BYTES) as writer:
        store = FeatureStore(folder)
        require_unchanged(store, photos)
        waiting = [photo for photo in photos if photo.image_id not in store]
        with closing(each_result(extractor, waiting)) as results:
            for photo in photos:
                if photo.image_id in store:
                    yield photo, store.bag(photo.image_id)
                    continue
                _, result = next(results)
                if isinstance(result, PhotoError):
                    yield photo, result
                else:
                    writer.append(result.bag, result.source_hash)
                    yield photo, as_stored(result.bag)


def each_result(extractor: Extractor, photos: Sequence[PhotoFile]) -> Generator[tuple[PhotoFile, Result]]:
    """Photos with what the extractor makes of them, or with what is wrong; in order, on all cores.

    Each core is busy with a photo of its own: products of matrices on several cores would only wait for each other.
    """
    workers = os.cpu_count() or 1
    pending: deque[tuple[PhotoFile, Future[Result]]] = deque()
    with one_blas_thread(), ThreadPoolExecutor(workers) as pool:
        try:
            for photo in photos:
                pending.append((photo, pool.submit(look_at, extractor, photo)))
                if len(pending) >= AHEAD * workers:
                    yield _finished(*pending.popleft())
            while pending:
                yield _finished(*pending.popleft())
        finally:
            for _, future in pending:
                future.cancel()


def store_header(extractor: Extractor) -> StoreHeader:
    """What a store remembers of the extractor."""
    return StoreHeader(extractor.fingerprint, extractor.dimension)


def require_unchanged(store: FeatureStore, photos: Sequence[PhotoFile]) -> None:
    """Refuse photos that the store knows by their ids, if they are not the files that it was made from."""
    known = [photo for photo in photos if photo.image_id in store]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        hashes = list(pool.map(lambda photo: photo_hash(photo.path), known))
    before = [store.entry(photo.image_id).source_hash for photo in known]
    changed = [photo for photo, now, then in zip(known, hashes, before, strict=True) if then not in {now, ""}]
    if changed:
        named = ", ".join(str(photo.path) for photo in changed[:NAMED])
        more = f" and {len(changed) - NAMED} more" if len(changed) > NAMED else ""
        are_not = "is not the photo that it was" if len(changed) == 1 else "are not the photos that they were"
        raise StoreError(
            f"{named}{more} {are_not} when {store.folder} was made ({len(changed)} of {len(photos)} photos).",
            "the same photos as before; new ones may be added, under names of their own",
            f"choose another folder with -o, or delete {store.folder} to look at all photos again.",
        )


def unreadable_photos(unreadable: Collection[PhotoError], photos: int) -> PhotoError:
    """What to say when some of the photos cannot be read, and all others are done."""
    errors = list(unreadable)
    shown = [f"\n  {error.wrong}" for error in errors[:SHOWN]]
    more = f"\n  and {len(errors) - SHOWN:,} more" if len(errors) > SHOWN else ""
    return PhotoError(
        f"{len(errors):,} of {photos:,} photos cannot be read:{''.join(shown)}{more}",
        "pictures that are whole",
        "replace or remove them and run the same command again (what is done stays), or add --skip-bad.",
    )


def _finished(photo: PhotoFile, future: Future[Result]) -> tuple[PhotoFile, Result]:
    return photo, future.result()


def look_at(extractor: Extractor, photo: PhotoFile) -> Result:
    """What the extractor makes of a photo, or what is wrong with it."""
    try:
        return extractor.extract(photo.path, photo.image_id)
    except PhotoError as error:
        return error

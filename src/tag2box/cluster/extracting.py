"""Extraction on many machines: each task looks at some photos, and seals a shard of its own in a shared folder.

A task that is lost with its machine is done again elsewhere. What is sealed stays, so that the same command goes on
where an earlier one stopped. Shards are named by their photos: the store is the same for any number of workers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, final

from tag2box.cluster.connecting import RETRIES, connected, losses
from tag2box.data.photo_files import PhotoFile
from tag2box.errors import PhotoError, StoreError
from tag2box.extract import BatchOutcome, Extractor, look_at, open_extractor, require_unchanged, store_header
from tag2box.progress import Report
from tag2box.store import FeatureStore, StoreWriter, write_shard

CHUNK = 64
"""Photos of a task, and of its shard."""


@final
@dataclass(frozen=True)
class Chunk:
    """Photos that one task looks at, and the shard that it seals."""

    photos: tuple[PhotoFile, ...]
    shard: Path
    model: Path | None
    regions: int


class Looked(NamedTuple):
    """What a task says when it is done."""

    written: int
    unreadable: Mapping[str, PhotoError]
    refused: StoreError | None
    """Why the shard could not be written"""


def extract_on_cluster(
    address: str, photos: Sequence[PhotoFile], folder: Path, report: Report, *, model: Path | None, regions: int
) -> BatchOutcome:
    """What ``extract_photos`` does, by tasks of a cluster that sees photos and folder under the same names."""
    folder, model = folder.resolve(), None if model is None else model.resolve()
    header = store_header(_extractor(model, regions))
    with StoreWriter(folder, header):  # the store's lock, and its header
        store = FeatureStore(folder)
        require_unchanged(store, photos)
        chunks = list(_chunks(photos, store, model, regions))
        known = len(photos) - sum(len(chunk.photos) for chunk in chunks)
        written, unreadable = 0, dict[str, PhotoError]()
        report(known, {})
        with connected(address) as ray:
            for looked in _each_done(ray, chunks):
                if looked.refused is not None:
                    raise looked.refused
                written += looked.written
                unreadable |= looked.unreadable
                report(known + written + len(unreadable), {})
    return BatchOutcome(written, known, unreadable)


def _chunks(photos: Sequence[PhotoFile], store: FeatureStore, model: Path | None, regions: int) -> Iterator[Chunk]:
    """Photos that the store lacks, in groups that do not depend on what is done already."""
    for first in range(0, len(photos), CHUNK):
        missing = [photo for photo in photos[first : first + CHUNK] if photo.image_id not in store]
        if missing:
            names = "\n".join(photo.image_id for photo in missing)
            mark = hashlib.sha256(names.encode()).hexdigest()[:12]
            resolved = tuple(PhotoFile(photo.image_id, photo.path.resolve()) for photo in missing)
            yield Chunk(resolved, store.folder / f"shard-{first // CHUNK:06d}-{mark}.safetensors", model, regions)


def _each_done(ray: Any, chunks: Sequence[Chunk]) -> Iterator[Looked]:
    """What the tasks say, as they end; those that a photo brings down again and again are done without it."""
    task = ray.remote(num_cpus=1, max_retries=RETRIES)(look)
    waiting = {task.remote(chunk): chunk for chunk in chunks}
    while waiting:
        (done,), _ = ray.wait(list(waiting), num_returns=1)
        chunk = waiting.pop(done)
        try:
            yield ray.get(done)
        except losses(ray):
            deadly = _deadly(ray, chunk)
            yield Looked(0, {photo.image_id: _deadly_photo(photo) for photo in deadly}, None)
            rest = tuple(photo for photo in chunk.photos if photo not in deadly)
            if rest:
                waiting[task.remote(replace(chunk, photos=rest))] = chunk


def _deadly(ray: Any, chunk: Chunk) -> list[PhotoFile]:
    """Photos that end the process which looks at them, each tried alone; nothing is written."""
    task, deadly = ray.remote(num_cpus=1, max_retries=0)(try_alone), []
    for photo, alone in [(photo, task.remote(photo, chunk.model, chunk.regions)) for photo in chunk.photos]:
        try:
            ray.get(alone)
        except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError):
            deadly.append(photo)
    return deadly


def _deadly_photo(photo: PhotoFile) -> PhotoError:
    return PhotoError(
        f"{photo.path} ends the process that looks at it.",
        "a picture that can be read with the memory of one worker",
        "look at it on its own, replace it or leave it out.",
    )


def look(chunk: Chunk) -> Looked:
    """What a task does: look at its photos, and seal them in one shard."""
    extractor = _extractor(chunk.model, chunk.regions)
    bags, hashes, unreadable = [], [], dict[str, PhotoError]()
    for photo in chunk.photos:
        found = look_at(extractor, photo)
        if isinstance(found, PhotoError):
            unreadable[photo.image_id] = found
        else:
            bags.append(found.bag)
            hashes.append(found.source_hash)
    try:
        if bags:
            write_shard(chunk.shard, extractor.fingerprint, bags, hashes)
    except StoreError as error:
        return Looked(0, {}, error)
    return Looked(len(bags), unreadable, None)


def try_alone(photo: PhotoFile, model: Path | None, regions: int) -> None:
    """Look at one photo and forget it."""
    look_at(_extractor(model, regions), photo)


@lru_cache(maxsize=1)
def _extractor(model: Path | None, regions: int) -> Extractor:
    """One for each process, on one thread: every core works on a photo of its own."""
    return open_extractor(model, regions=regions, threads=1)

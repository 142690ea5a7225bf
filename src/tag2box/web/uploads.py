"""Photos that are given on the page: counted, decoded in a child, kept under the hash of their bytes."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tag2box.data.tags import TaggedPhoto
from tag2box.errors import PhotoError, RunError
from tag2box.files import TEMPORARY_SUFFIX, sync
from tag2box.product.own_photos import add_photos
from tag2box.web.child import Child, Inspected, inspect
from tag2box.web.state import photo_id
from tag2box.web.studio import Studio

MOST_BYTES = 50_000_000
"""Of one photo."""
MOST_PHOTOS = 5000
"""Of a run that is filled on the page."""
ENDINGS = {"JPEG": ".jpg", "MPO": ".jpg", "PNG": ".png", "WEBP": ".webp", "AVIF": ".avif", "GIF": ".gif"}
ENDINGS |= {"BMP": ".bmp", "TIFF": ".tif"}
HEIF_BRANDS = (b"ftypheic", b"ftypheix", b"ftypmif1", b"ftypheif", b"ftyphevc")


class Arrived(NamedTuple):
    """A photo on the disk that nobody has taken yet."""

    path: Path
    digest: str
    what: Inspected


@contextmanager
def arriving(folder: Path, content: bytes) -> Iterator[Path]:
    """The bytes in a file for as long as it takes; what can be no photo is refused."""
    _require_known_kind(content)
    path = folder / f".{secrets.token_hex(8)}{TEMPORARY_SUFFIX}"
    try:
        path.write_bytes(content)
        yield path
    finally:
        path.unlink(missing_ok=True)


def arrived(path: Path, content: bytes, child: Child) -> Arrived:
    """The photo in a file; what is none is refused."""
    return Arrived(path, hashlib.sha256(content).hexdigest(), child.ask(inspect, path))


def take(studio: Studio, given: Arrived, title: str, tags: frozenset[str]) -> str:
    """Add a photo to the run, under a name made from its bytes; its id. One that is there already gets the tags."""
    run = studio.run
    if not studio.may_add:
        raise RunError(
            f"this run is about the photos in {run.given.folder.name!r}.",
            "a studio that was started without photos",
            "put the photo into that folder and start the studio again.",
        )
    name = f"{given.digest[:32]}{ENDINGS[given.what.format]}"
    if name in {photo.name for photo in run.given.photos}:
        for tag in sorted(tags):
            studio.tag([photo_id(name)], tag)
        return photo_id(name)
    if len(run.given.photos) >= MOST_PHOTOS:
        raise RunError(f"the run has {MOST_PHOTOS:,} photos.", "no more than that", "use tag2box localize.")
    path = run.given.folder / name
    run.given.folder.mkdir(exist_ok=True)
    given.path.replace(path)
    sync(path)
    add_photos(run, [TaggedPhoto(name, path, tags)])
    studio.photo_came(name, title)
    return photo_id(name)


def _require_known_kind(content: bytes) -> None:
    """Name what cannot be read, where people would wonder why."""
    head = content[:400].lstrip().lower()
    if not content:
        raise PhotoError("the file is empty.", "a picture", "choose another file.")
    if content[4:12] in HEIF_BRANDS:
        raise PhotoError("the file is HEIC.", "JPEG, PNG, WebP or the like", "save the photo as JPEG.")
    if b"<svg" in head or head.startswith(b"<?xml"):
        raise PhotoError("the file is a drawing (SVG).", "a photo", "save it as PNG.")

"""Tags from PASCAL VOC's XML, one file for each photo: a photo has the names of its objects."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tag2box.data.tags.annotation_files import read_xml
from tag2box.data.tags.mentions import Mention, find_mentioned
from tag2box.data.tags.photo_files import entries_of, photos_below
from tag2box.data.tags.tag_set import TagSet
from tag2box.data.tags.tag_words import clean_tags
from tag2box.errors import TagsError


def find_annotations(folder: Path) -> Path | None:
    """The folder of XML files in VOC's layout, if this is one."""
    annotations = folder / "Annotations"
    return annotations if os.path.isdir(annotations) and _xml_files(annotations) else None


def read_annotations(annotations: Path) -> TagSet:
    """The photos that have an XML in the folder of annotations; they lie in ``JPEGImages`` or elsewhere beside it."""
    folder = annotations.parent
    photos = folder / "JPEGImages" if os.path.isdir(folder / "JPEGImages") else folder
    return TagSet.build(folder, find_mentioned(_mentions(annotations, photos), annotations), "VOC")


def find_xml_beside_photos(folder: Path) -> Path | None:
    """The folder itself, if a photo in it or below has an XML of the same name beside it."""
    return folder if any(os.path.isfile(_xml_of(photo)) for photo in photos_below(folder)) else None


def read_xml_beside_photos(folder: Path) -> TagSet:
    """All photos of the folder and of those below; each must have an XML of its own."""
    photos = photos_below(folder)
    bare = [photo for photo in photos if not os.path.isfile(_xml_of(photo))]
    if bare:
        raise TagsError(
            f"{len(bare)} of the {len(photos)} photos in {folder} have no .xml beside them, such as {str(bare[0])!r}.",
            "an .xml for every photo, without objects if the photo shows none of the things",
            "add the missing files, or move the photos without one elsewhere.",
        )
    return TagSet.build(folder, {photo: _tags_of(_xml_of(photo)) for photo in photos}, "VOC")


def _xml_of(photo: Path) -> Path:
    return photo.with_suffix(".xml")


def _xml_files(folder: Path) -> list[Path]:
    return [path for path in entries_of(folder) if path.suffix.lower() == ".xml" and os.path.isfile(path)]


def _mentions(annotations: Path, photos: Path) -> Iterator[Mention]:
    by_stem = {photo.stem: photo for photo in reversed(photos_below(photos))}
    for xml in _xml_files(annotations):
        yield Mention([by_stem.get(xml.stem, photos / f"{xml.stem}.jpg")], _tags_of(xml), xml.name)


def _tags_of(xml: Path) -> frozenset[str]:
    root = read_xml(xml)
    names = [thing.findtext("name") for thing in root.findall("object")]
    if root.tag != "annotation" or None in names:
        wrong = "has an object without a name" if root.tag == "annotation" else f"begins with <{root.tag}>"
        raise TagsError(
            f"{xml} {wrong}.", "PASCAL's <annotation> with an <object><name> for every thing", "check the file."
        )
    return clean_tags([name for name in names if name is not None], str(xml))

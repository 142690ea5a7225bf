"""PASCAL's XML, one file for each photo: VOC in the layout of its devkit or beside the photos, and ILSVRC DET.

Pixels count from one (in ILSVRC from zero), and the last one belongs to the box.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

from tag2box.boxes import Box, box_from_pixels, pixels_of_box
from tag2box.data.dataset import Dataset, DatasetImage, TrueBox
from tag2box.data.formats.parsing import (
    Mention,
    as_truth,
    box_numbers,
    find_mentioned,
    read_text,
    read_xml,
    size_of,
)
from tag2box.data.formats.placing import branch, flat_names, leaf, link_photo, put_photos, write_xml
from tag2box.data.labelled import FoundBox, LabelledPhoto, LabelledPhotos
from tag2box.data.photo_files import entries_of, photos_below, skipped_below
from tag2box.data.splits import ilsvrc_synsets, voc_classes
from tag2box.data.tags import TagSet, clean_name, clean_tags
from tag2box.errors import TagsError

ANNOTATIONS, PHOTOS = "Annotations", "JPEGImages"
EDGES = ("xmin", "ymin", "xmax", "ymax")
LABEL_MAP_NAME, LABEL_MAP = "labelmap.txt", "# label:color_rgb:parts:actions\nbackground:::\n"


class _Entry(NamedTuple):
    """A photo and its annotation."""

    image_id: str
    xml: Path
    photo: Path


class _Layout(NamedTuple):
    """The photos of a place, and how their annotations are to be read."""

    folder: Path
    entries: list[_Entry]
    first_pixel: int = 1
    names: Mapping[str, str] = {}
    """What classes are called in the files → what they are called"""


def is_voc(place: Path) -> bool:
    """Whether a place is an image set of VOC's, a folder in its layout, or one with an XML beside a photo."""
    if not os.path.isdir(place):
        return _is_image_set(place, "Main")
    return bool(_xml_files(place / ANNOTATIONS)) or any(os.path.isfile(_xml_of(photo)) for photo in photos_below(place))


def is_ilsvrc(place: Path) -> bool:
    """Whether a place is an image set of ILSVRC's detection task."""
    return _is_image_set(place, "DET")


def read_voc_tags(place: Path) -> TagSet:
    """The photos of a place that have an XML, with the names of its objects; those in VOC's layout need no other."""
    layout = _layout(place)
    mentions = (Mention([entry.photo], _tags_of(entry.xml, layout.names), entry.xml.name) for entry in layout.entries)
    at = place / ANNOTATIONS if os.path.isdir(place / ANNOTATIONS) else place
    skipped = skipped_below(layout.folder) if os.path.isdir(place) else []
    return TagSet.build(layout.folder, find_mentioned(mentions, at), "VOC", skipped)


@as_truth()
def read_voc(place: Path) -> Dataset:
    """The photos of a place with their boxes; difficult ones are ignored.

    Classes are those of ``labelmap.txt``; without it the twenty of VOC or, if there are others, those that occur.
    """
    layout = _layout(place)
    images = tuple(_true_image(entry, layout) for entry in layout.entries)
    return Dataset(_classes(layout, images), images)


def _is_image_set(place: Path, kind: str) -> bool:
    folders = [folder.name for folder in place.absolute().parents]
    return place.suffix.lower() == ".txt" and folders[:2] == [kind, "ImageSets"]


def _xml_files(folder: Path) -> list[Path]:
    entries = entries_of(folder) if os.path.isdir(folder) else []
    return [path for path in entries if path.suffix.lower() == ".xml" and os.path.isfile(path)]


def _xml_of(photo: Path) -> Path:
    return photo.with_suffix(".xml")


def _layout(place: Path) -> _Layout:
    if is_ilsvrc(place):
        return _ilsvrc(place.absolute())
    if not os.path.isdir(place):
        folder = place.absolute().parents[2]
        xmls = [folder / ANNOTATIONS / f"{name}.xml" for name in _names_in(place)]
        return _Layout(folder, _devkit(folder, xmls))
    xmls = _xml_files(place / ANNOTATIONS)
    return _Layout(place, _devkit(place, xmls) if xmls else _beside(place))


def _devkit(folder: Path, xmls: Iterable[Path]) -> list[_Entry]:
    """Annotations with the photos of the same names, which lie in ``JPEGImages`` or elsewhere in the folder."""
    photos = folder / PHOTOS if os.path.isdir(folder / PHOTOS) else folder
    by_stem = {photo.stem: photo for photo in reversed(photos_below(photos))}
    named = [(xml.relative_to(folder / ANNOTATIONS).as_posix().removesuffix(xml.suffix), xml) for xml in xmls]
    return [_Entry(name, xml, by_stem.get(xml.stem, photos / f"{xml.stem}.jpg")) for name, xml in named]


def _beside(folder: Path) -> list[_Entry]:
    """All photos of the folder and of those below; each must have an XML of its own."""
    photos = photos_below(folder)
    bare = [photo for photo in photos if not os.path.isfile(_xml_of(photo))]
    if bare:
        raise TagsError(
            f"{len(bare)} of the {len(photos)} photos in {folder} have no .xml beside them, such as {str(bare[0])!r}.",
            "an .xml for every photo, without objects if the photo shows none of the things",
            "add the missing files, or move the photos without one elsewhere.",
        )
    return [_Entry(photo.relative_to(folder).as_posix(), _xml_of(photo), photo) for photo in photos]


def _ilsvrc(path: Path) -> _Layout:
    """One image set of ``ILSVRC``; classes get their English names instead of synset numbers."""
    root, part = path.parents[2], path.stem.split("_")[0]
    annotations, photos = root / ANNOTATIONS / "DET" / part, root / "Data" / "DET" / part
    entries = [_Entry(name, annotations / f"{name}.xml", photos / f"{name}.JPEG") for name in _names_in(path)]
    return _Layout(root, entries, 0, ilsvrc_synsets())


def _names_in(path: Path) -> list[str]:
    """The photos of an image set; what else stands on a line is another task's."""
    return [line.split()[0] for line in read_text(path).splitlines() if line.strip()]


def _objects(xml: Path) -> tuple[Element, list[tuple[str, Element]]]:
    """The root of an annotation, and the named objects in it."""
    root = read_xml(xml)
    named = [(thing.findtext("name"), thing) for thing in root.findall("object")]
    if root.tag != "annotation" or any(name is None for name, _ in named):
        wrong = "has an object without a name" if root.tag == "annotation" else f"begins with <{root.tag}>"
        raise TagsError(
            f"{xml} {wrong}.", "PASCAL's <annotation> with an <object><name> for every thing", "check the file."
        )
    return root, [((name or "").strip(), thing) for name, thing in named]


def _tags_of(xml: Path, names: Mapping[str, str]) -> frozenset[str]:
    return clean_tags([names.get(name, name) for name, _ in _objects(xml)[1]], str(xml))


def _true_image(entry: _Entry, layout: _Layout) -> DatasetImage:
    root, named = _objects(entry.xml)
    size = size_of(root.findtext("size/height"), root.findtext("size/width"), str(entry.xml))
    boxes = [
        TrueBox(
            clean_name(layout.names.get(name, name)),
            _box_of(thing, entry.xml, layout.first_pixel),
            (thing.findtext("difficult") or "0").strip() == "1",
        )
        for name, thing in named
    ]
    return DatasetImage.build(entry.photo, entry.image_id, size, boxes)


def _box_of(thing: Element, xml: Path, first_pixel: int) -> Box:
    edges = [thing.findtext(f"bndbox/{edge}") for edge in EDGES]
    return box_from_pixels(*box_numbers(edges, str(xml)), first_pixel)


def _classes(layout: _Layout, images: Iterable[DatasetImage]) -> tuple[str, ...]:
    if layout.names:
        return tuple(layout.names.values())
    shown = sorted({label for image in images for label in image.truth.labels.tolist()})
    listed = layout.folder / LABEL_MAP_NAME
    if os.path.isfile(listed):
        lines = [line for line in read_text(listed).splitlines() if line.strip() and not line.startswith("#")]
        labels = [clean_name(line.rsplit(":", 3)[0]) for line in lines]
        return tuple(dict.fromkeys([*(label for label in labels if label != "background"), *shown]))
    return voc_classes() if set(shown) <= set(voc_classes()) else tuple(shown)


def write_voc(labelled: LabelledPhotos, folder: Path) -> None:
    """Write ``Annotations/``, ``JPEGImages/``, ``ImageSets/Main/trainval.txt`` and ``labelmap.txt``.

    One list and no second one, because CVAT takes every list for a subset; without the label map it knows no classes
    but the twenty of VOC.
    """
    photos = put_photos(labelled, folder / PHOTOS, flat_names, link_photo)
    for name in (ANNOTATIONS, "ImageSets/Main"):
        (folder / name).mkdir(parents=True)
    for photo in photos:
        write_xml((folder / ANNOTATIONS / photo.name).with_suffix(".xml"), _annotation(photo))
    stems = "".join(f"{Path(photo.name).stem}\n" for photo in photos)
    (folder / "ImageSets" / "Main" / "trainval.txt").write_text(stems, encoding="utf-8")
    labels = "".join(f"{label}:::\n" for label in labelled.classes)
    (folder / LABEL_MAP_NAME).write_text(LABEL_MAP + labels, encoding="utf-8")


def _annotation(photo: LabelledPhoto) -> Element:
    sizes = [leaf("width", photo.width), leaf("height", photo.height), leaf("depth", 3)]
    return branch(
        "annotation",
        leaf("folder", PHOTOS),
        leaf("filename", photo.name),
        branch("source", leaf("database", "tag2box")),
        branch("size", *sizes),
        leaf("segmented", 0),
        *(_thing(found) for found in photo.boxes),
    )


def _thing(found: FoundBox) -> Element:
    edges = zip(EDGES, pixels_of_box(found.box), strict=True)
    return branch(
        "object",
        leaf("name", found.label),
        leaf("pose", "Unspecified"),
        leaf("truncated", 0),
        leaf("difficult", 0),
        branch("bndbox", *(leaf(name, edge) for name, edge in edges)),
    )

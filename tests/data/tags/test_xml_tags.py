"""Tags from XML: CVAT's one file for all photos, VOC's one file for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tag2box.data.tags import TagSet, read_tags
from tag2box.errors import TagsError

Write = Callable[[Mapping[str, str | bytes]], Path]
CVAT = """<?xml version="1.0" encoding="utf-8"?>
<annotations><version>1.1</version><meta><task><name>pets</name></task></meta>
<image id="0" name="a.jpg" width="4" height="3"><box label="dog" xtl="0" ytl="0" xbr="1" ybr="1"/><tag label=" ball "/>
<polygon label="dog" points="0,0;1,1;1,0"><attribute name="colour">red</attribute></polygon></image>
<image id="1" name="sub/b.jpg" width="4" height="3"></image>
</annotations>"""
DOG = "<annotation><object><name> dog </name></object><object><name>ball</name></object></annotation>"
NOTHING = "<annotation><size/></annotation>"
LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><annotations><image name="&b;"/></annotations>'


def summary(tags: TagSet) -> dict[str, set[str]]:
    return {photo.name: set(photo.tags) for photo in tags.photos}


@pytest.mark.parametrize("folder", ["", "images/"])
def test_cvat_photos_have_the_labels_of_shapes_and_tags(write: Write, folder: str) -> None:
    place = write({"annotations.xml": CVAT, f"{folder}a.jpg": "a", f"{folder}sub/b.jpg": "b"})
    tags = read_tags(place / "annotations.xml")
    assert summary(tags) == {f"{folder}a.jpg": {"ball", "dog"}, f"{folder}sub/b.jpg": set()}
    assert (tags.folder, tags.source) == (place, "CVAT")
    assert read_tags(place) == tags


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is not XML"),
        (CVAT[:-20], "is not XML"),
        (CVAT.encode("utf-16"), "is not UTF-8"),
        (CVAT.replace("pets", "caf\xe9").encode("latin-1"), "is not UTF-8: byte .*, in line 2, is 0xe9"),
        (LAUGHS, "has a DOCTYPE"),
        ("<annotations/>", "has no images of CVAT"),
        ("<annotations><track/></annotations>", "this is a video"),
        (DOG, "one photo in VOC's format: give the folder"),
        ("<html/>", "begins with <html>"),
        (CVAT.replace('name="a.jpg"', ""), "image 1: the photo name '' does not"),
        (CVAT.replace("a.jpg", "../a.jpg"), r"image 1: the photo name '\.\./a\.jpg' does not stay"),
        (CVAT.replace("a.jpg", "z.jpg"), r"image 1: there is no photo '.*z\.jpg'.\n.* or '.*images/z\.jpg'"),
        (CVAT.replace("sub/b.jpg", "a.jpg"), "twice: in image 1 and in image 2"),
        (CVAT.replace('"dog"', f'"{"x" * 300}"'), "has 300 characters"),
    ],
)
def test_a_cvat_file_with_a_fault_is_refused(write: Write, content: str | bytes, message: str) -> None:
    with pytest.raises(TagsError, match=message):
        read_tags(write({"boxes.xml": content, "a.jpg": "a", "sub/b.jpg": "b"}) / "boxes.xml")


@pytest.mark.parametrize("folder", ["JPEGImages/", ""])
def test_voc_photos_have_the_names_of_their_objects(write: Write, folder: str) -> None:
    files = {"Annotations/a.xml": DOG, "Annotations/b.c.xml": NOTHING, "Annotations/readme.txt": ""}
    place = write({**files, f"{folder}a.jpg": "a", f"{folder}b.c.PNG": "b", f"{folder}unannotated.jpg": "c"})
    tags = read_tags(place)
    assert summary(tags) == {f"{folder}a.jpg": {"ball", "dog"}, f"{folder}b.c.PNG": set()}
    assert (tags.folder, tags.source) == (place, "VOC")


def test_xml_may_lie_beside_the_photos_at_any_depth(write: Write) -> None:
    place = write({"a.jpg": "a", "a.xml": DOG, "train/b.jpg": "b", "train/b.xml": NOTHING})
    tags = read_tags(place)
    assert summary(tags) == {"a.jpg": {"ball", "dog"}, "train/b.jpg": set()}
    assert tags.source == "VOC"


def test_a_photo_without_its_xml_is_named(write: Write) -> None:
    with pytest.raises(TagsError, match=r"1 of the 2 photos in .* have no \.xml beside them, such as '.*b\.jpg'"):
        read_tags(write({"a.jpg": "a", "a.xml": DOG, "b.jpg": "b"}))


def test_an_xml_without_its_photo_is_named(write: Write) -> None:
    files = {"Annotations/a.xml": DOG, "Annotations/b.xml": DOG, "JPEGImages/a.jpg": "a"}
    with pytest.raises(TagsError, match=r"Annotations, b\.xml: there is no photo '.*JPEGImages/b\.jpg'"):
        read_tags(write(files))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (DOG[:-5], r"a\.xml is not XML"),
        (b"<annotation>\xff</annotation>", r"a\.xml is not UTF-8"),
        ("<annotation><object/></annotation>", r"a\.xml has an object without a name"),
        ("<other/>", r"a\.xml begins with <other>"),
        (LAUGHS, r"a\.xml has a DOCTYPE"),
        (NOTHING, "no photo in .* has a tag; it has 1 without"),
    ],
)
@pytest.mark.parametrize("xml", ["a.xml", "Annotations/a.xml"])
def test_a_voc_file_with_a_fault_is_refused(write: Write, xml: str, content: str | bytes, message: str) -> None:
    with pytest.raises(TagsError, match=message):
        read_tags(write({xml: content, "a.jpg": "a"}))

"""Tags and boxes from XML: CVAT's one file for all photos, VOC's one file for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from tag2box.data import TagSet, read_tags, read_truth
from tag2box.errors import DatasetError, TagsError

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


SHAPES = """<annotations><meta><task><labels><label><name>pen</name></label><label><name>dog</name></label></labels>
</task></meta><image name="sub/a.jpg" width="60" height="40"><box label=" dog " xtl="1.5" ytl="2" xbr="30" ybr="50"/>
<box label="dog" xtl="20" ytl="10" xbr="40" ybr="20" rotation="90"/><polygon label="pen" points="5,6;9,7;6,30.5"/>
<tag label="outdoors"/></image><image name="b.jpg" width="9" height="8"/></annotations>"""


def test_cvat_boxes_are_truth_without_any_photo(write: Write) -> None:
    truth = read_truth(write({"boxes.xml": SHAPES}) / "boxes.xml")
    first, second = truth.images
    assert truth.classes == ("pen", "dog")
    assert (first.image_id, first.height, first.width) == ("sub/a.jpg", 40, 60)
    assert first.truth.labels.tolist() == ["dog", "dog", "pen"]
    np.testing.assert_allclose(
        first.truth.boxes, [[1.5, 2.0, 30.0, 40.0], [25.0, 5.0, 35.0, 25.0], [5.0, 6.0, 9.0, 30.5]], rtol=1e-6
    )
    assert len(second.truth) == 0


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ('width="60"', "", "image 1, has the height '40' and the width None"),
        ('xtl="1.5"', 'xtl="left"', "image 1, has a box that is not made of numbers"),
        ("5,6;9,7", "5,6;9", "image 1, has a <polygon> that is no box"),
        ("<polygon", "<mask", "image 1, has a <mask> that is no box"),
    ],
)
def test_cvat_boxes_with_a_fault_are_refused_at_their_place(write: Write, right: str, wrong: str, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        read_truth(write({"boxes.xml": SHAPES.replace(right, wrong)}) / "boxes.xml")


def test_voc_boxes_may_lie_beside_the_photos(write: Write) -> None:
    size = "<size><width>60</width><height>40</height></size>"
    edges = "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>60</xmax><ymax>40.0</ymax></bndbox>"
    xml = f"<annotation>{size}<object><name>mug</name>{edges}</object></annotation>"
    truth = read_truth(write({"sub/a.jpg": "", "sub/a.xml": xml}))
    assert (truth.classes, truth.images[0].image_id) == (("mug",), "sub/a.jpg")
    assert truth.images[0].truth.boxes.tolist() == [[0, 1, 60, 40]]

"""Tags as names of folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tag2box.data import TaggedPhoto, read_tags
from tag2box.errors import TagsError

Write = Callable[[Mapping[str, str | bytes]], Path]


def test_a_folder_is_a_tag_and_none_is_no_tag(write: Write) -> None:
    place = write({"dog/rex.jpg": "r", "dog/park/bo.PNG": "b", "cat/tom.webp": "t", "_none/sea.jpg": "s"})
    tags = read_tags(place)
    assert tags.photos == (
        TaggedPhoto("_none/sea.jpg", place / "_none/sea.jpg", frozenset()),
        TaggedPhoto("cat/tom.webp", place / "cat/tom.webp", frozenset({"cat"})),
        TaggedPhoto("dog/park/bo.PNG", place / "dog/park/bo.PNG", frozenset({"dog"})),
        TaggedPhoto("dog/rex.jpg", place / "dog/rex.jpg", frozenset({"dog"})),
    )
    assert (tags.folder, tags.classes, tags.source) == (place, ("cat", "dog"), "folders")


def test_the_same_photo_in_two_folders_has_two_tags(write: Write) -> None:
    place = write({"dog/a.jpg": "same", "ball/a.jpg": "same", "cat/a.jpg": "other"})
    assert {photo.name: set(photo.tags) for photo in read_tags(place).photos} == {
        "ball/a.jpg": {"ball", "dog"},
        "cat/a.jpg": {"cat"},
    }


def test_the_same_content_under_two_names_is_two_photos(write: Write) -> None:
    assert len(read_tags(write({"dog/a.jpg": "same", "ball/b.jpg": "same"})).photos) == 2


def test_a_photo_of_a_thing_cannot_be_without_things(write: Write) -> None:
    with pytest.raises(TagsError, match=r"'a\.jpg' stands in .*dog' and in .*_none'"):
        read_tags(write({"dog/a.jpg": "same", "_none/a.jpg": "same"}))


@pytest.mark.parametrize(
    "name", ["a b.jpg", 'it\'s "x".jpg', "🐕.jpg", "two\nlines.jpg", "a;b,c.jpg", "-o.jpg", "a.b.jpg"]
)
def test_photos_may_have_odd_names(write: Write, name: str) -> None:
    assert [photo.name for photo in read_tags(write({f"dog/{name}": "x"})).photos] == [f"dog/{name}"]


def test_tags_may_be_odd_too_and_are_trimmed_and_composed(write: Write) -> None:
    place = write({" my dog/a.jpg": "a", "cafe\u0301/b.jpg": "b", "🐕/c.jpg": "c", "a;b/d.jpg": "d"})
    assert read_tags(place).classes == ("a;b", "café", "my dog", "🐕")


def test_hidden_and_foreign_files_are_passed_over(write: Write) -> None:
    place = write({
        "dog/a.jpg": "a",
        "dog/.b.jpg": "b",
        "dog/.thumbs/c.jpg": "c",
        ".trash/d.jpg": "d",
        "dog/readme.txt": "e",
        "__MACOSX/._a.jpg": "f",
        "notes.txt": "g",
    })  # fmt: skip
    (place / "dog" / "folder.jpg").mkdir()
    assert [photo.name for photo in read_tags(place).photos] == ["dog/a.jpg"]


def test_a_run_may_lie_among_its_photos(write: Write) -> None:
    place = write({"dog/a.jpg": "a", "run/run.json": "{}", "run/features/header.json": "", "run/photos/b.jpg": "b"})
    assert [photo.name for photo in read_tags(place).photos] == ["dog/a.jpg"]


def test_links_to_photos_and_tag_folders_count_and_loops_end(write: Write) -> None:
    place = write({"photos/dog/a.jpg": "a", "elsewhere/b.jpg": "b", "elsewhere/c.jpg": "c"})
    photos = place / "photos"
    (photos / "cat").symlink_to(place / "elsewhere")
    (photos / "dog" / "linked.jpg").symlink_to(place / "elsewhere" / "c.jpg")
    (photos / "dog" / "gone.jpg").symlink_to(place / "nowhere.jpg")
    (photos / "dog" / "up").symlink_to(photos)
    (photos / "round").symlink_to(photos)
    (photos / "itself").symlink_to(photos / "itself")
    assert [photo.name for photo in read_tags(photos).photos] == [
        "cat/b.jpg",
        "cat/c.jpg",
        "dog/a.jpg",
        "dog/linked.jpg",
    ]


def test_one_photo_is_enough_for_the_reader(write: Write) -> None:
    assert len(read_tags(write({"dog/a.jpg": "a"})).photos) == 1


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "there is no photo in"),
        ({"notes.txt": ""}, "there is no photo in"),
        ({"a.jpg": "", "b.jpg": ""}, r"photos without a tag \(2\): 'a\.jpg' lies"),
        ({"a.jpg": "", "dog/b.jpg": ""}, r"photos without a tag \(1\)"),
        ({"a.jpg": "", "labels.json": ""}, "if 'labels.json' says what is in the photos, give that file itself"),
        ({"_none/a.jpg": ""}, "no photo in .* has a tag; it has 1 without"),
        ({"dog/a.jpg": "", "cat/a.heiq": ""}, "cat' has files such as 'a.heiq', and no photo"),
        ({"images/a.jpg": ""}, "images' is not named after a tag"),
        ({"images/a.jpg": "", "boxes.json": "{}"}, "if 'boxes.json' says what is in the photos, give that file itself"),
        ({" /a.jpg": ""}, "is not named after a tag"),
        ({f"{'x' * 201}/a.jpg": ""}, "has 201 characters"),
        ({"a\tb/a.jpg": ""}, "cannot be shown"),
    ],
)
def test_folders_that_do_not_say_what_is_where_are_refused(write: Write, files: dict[str, str], message: str) -> None:
    with pytest.raises(TagsError, match=message):
        read_tags(write(files))


def test_the_ways_to_give_tags_are_explained(write: Write) -> None:
    place = write({"a.jpg": ""})
    for wrong in (place, place / "a.jpg", place / "nowhere"):
        with pytest.raises(TagsError, match=r"a folder for each tag .* metadata\.csv .* COCO"):
            read_tags(wrong)


def test_places_that_are_no_source_say_what_they_are(write: Write) -> None:
    place = write({"a.jpg": "", "notes.txt": ""})
    for name, message in [
        ("a.jpg", "is a single photo"),
        ("notes.txt", "is no kind of file that holds tags"),
        ("nowhere", "there is nothing at"),
        ("x" * 5000, "there is nothing at"),
        ("nul\0", "there is nothing at"),
    ]:
        with pytest.raises(TagsError, match=message):
            read_tags(place / name)


@pytest.mark.parametrize("function", ["walk", "listdir"])
def test_a_folder_that_cannot_be_opened_is_named(write: Write, monkeypatch: pytest.MonkeyPatch, function: str) -> None:
    def refuse(folder: Any, **_: Any) -> Any:
        raise PermissionError(13, "Permission denied", str(folder))

    place = write({"dog/a.jpg": ""})
    monkeypatch.setattr(os, function, refuse)
    with pytest.raises(TagsError, match=r"the folder .* cannot be read: Permission denied"):
        read_tags(place)


@pytest.mark.skipif(os.geteuid() == 0, reason="everything is open to root")
def test_locked_folders_and_photos_are_named(write: Write) -> None:
    place = write({"dog/a.jpg": "a", "cat/a.jpg": "a"})
    for locked, message in [("cat/a.jpg", "the photo .* cannot be read"), ("cat", "the folder .* cannot be read")]:
        (place / locked).chmod(0)
        with pytest.raises(TagsError, match=message):
            read_tags(place)
    (place / "cat").chmod(0o700)


def test_a_file_name_that_is_not_utf8_is_refused(write: Write) -> None:
    place = write({"dog/a.jpg": ""})
    Path(os.fsdecode(bytes(place / "dog") + b"/\xff.jpg")).write_bytes(b"")
    with pytest.raises(TagsError, match=r"'dog/\\udcff\.jpg' .* is not UTF-8"):
        read_tags(place)

"""Tags in a table beside the photos."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tag2box.data import TagSet, read_tags
from tag2box.errors import TagsError

Write = Callable[[Mapping[str, str | bytes]], Path]
PHOTOS = {"a.jpg": "a", "sub/b.jpg": "b", "c.jpg": "c"}
CSV = "file_name,tags\na.jpg,dog;ball\nsub/b.jpg, dog ;;\nc.jpg,\n"
JSONL = """{"file_name": "a.jpg", "tags": ["dog", "ball"]}

{"file_name": "sub/b.jpg", "tags": " dog ;;"}
{"file_name": "c.jpg", "tags": []}
"""
READ = {"a.jpg": {"dog", "ball"}, "c.jpg": set(), "sub/b.jpg": {"dog"}}


def summary(tags: TagSet) -> dict[str, set[str]]:
    return {photo.name: set(photo.tags) for photo in tags.photos}


@pytest.mark.parametrize(("name", "content"), [("metadata.csv", CSV), ("metadata.jsonl", JSONL)])
def test_a_table_names_photos_and_tags(write: Write, name: str, content: str) -> None:
    place = write({**PHOTOS, name: content})
    tags = read_tags(place)
    assert summary(tags) == READ
    assert list(summary(tags)) == sorted(READ)
    assert (tags.folder, tags.classes, tags.source) == (place, ("ball", "dog"), name)
    assert tags.photos[2].path == place / "sub" / "b.jpg"
    assert read_tags(place / name) == tags


@pytest.mark.parametrize(
    "content",
    [
        "\ufeff" + CSV,
        CSV.replace("\n", "\r\n"),
        CSV.rstrip("\n"),
        'id,tags,file_name\n1,dog;ball,a.jpg\n\n2,dog,"sub/b.jpg"\n3,"",c.jpg\n',
        " file_name , tags \n./a.jpg,ball;dog;ball\nsub//b.jpg,dog\nc.jpg, ; \n",
    ],
)
def test_tables_as_programs_write_them_are_read(write: Write, content: str) -> None:
    assert summary(read_tags(write({**PHOTOS, "metadata.csv": content}))) == READ


@pytest.mark.parametrize("name", ["two\nlines.jpg", 'say "hi".jpg', "a,b.jpg", "🐕 dog.jpg", " a.jpg", "\u2028.jpg"])
def test_odd_file_names_survive_both_tables(write: Write, name: str) -> None:
    quoted = name.replace('"', '""')
    place = write({name: "x", "metadata.csv": f'file_name,tags\n"{quoted}",dog\n'})
    assert summary(read_tags(place)) == {name: {"dog"}}
    (place / "metadata.csv").unlink()
    write({"metadata.jsonl": json.dumps({"file_name": name, "tags": "dog"}, ensure_ascii=False)})
    assert summary(read_tags(place)) == {name: {"dog"}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "columns .* are missing"),
        ("a.jpg,dog\n", r"columns of .* are 'a\.jpg', 'dog'\.\n  expected: a header with the columns file_name,tags"),
        ("file_name;tags\na.jpg;dog\n", "columns of .* are 'file_name;tags'"),
        ("file_name,tags,tags\na.jpg,dog,cat\n", "columns of"),
        ("file_name,tags\na.jpg,dog,ball\n", "line 2, does not fit the header: it has 3 values instead of 2"),
        ("file_name,tags\na.jpg\n", "line 2, does not fit the header: it has 1 values"),
        ('file_name,tags\na.jpg,dog\n"c.jpg,dog\n', "line 3, is not CSV"),
        ("file_name,tags\n/etc/passwd,dog\n", "'/etc/passwd' does not stay in its folder"),
        ("file_name,tags\nsub/../../a.jpg,dog\n", "does not stay in its folder"),
        ("file_name,tags\n,dog\n", "line 2: the photo name '' does not"),
        ("file_name,tags\na.jpg,dog\nno.jpg,dog\nnor.jpg,\n", r"line 3: there is no photo '.*no\.jpg' \(and 1 more\)"),
        ("file_name,tags\nsub,dog\n", "there is no photo '.*sub'"),
        (f"file_name,tags\n{'x' * 5000},dog\n", "there is no photo"),
        ("file_name,tags\na.jpg,dog\nc.jpg,\n./a.jpg,cat\n", r"a\.jpg' twice: in line 2 and in line 4"),
        ("file_name,tags\na.jpg,\n", "no photo in .* has a tag; it has 1 without"),
        ("file_name,tags\n", "there is no photo in"),
        ("file_name,tags\na.jpg,_none\n", "line 2: the tag '_none' is the name of the folder"),
        (f"file_name,tags\na.jpg,{'x' * 201}\n", "line 2: the tag 'x+…' has 201 characters"),
        ("file_name,tags\na.jpg,do\x07g\n", "cannot be shown"),
        (b"file_name,tags\na.jpg,caf\xe9\n", r"metadata\.csv is not UTF-8: byte 24, in line 2, is 0xe9"),
        (CSV.encode("utf-16"), "is not UTF-8: byte 0, in line 1, is 0xff"),
    ],
)
def test_tables_with_a_fault_are_refused_at_its_place(write: Write, content: str | bytes, message: str) -> None:
    with pytest.raises(TagsError, match=message):
        read_tags(write({**PHOTOS, "metadata.csv": content}))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"file_name": "a.jpg", "tags": ["dog"]', "line 2, is not JSON"),
        ("[" * 100_000, "line 2, is not JSON"),
        ("[1]", "line 2, is a list"),
        ('{"tags": ["dog"]}', "line 2, has no file_name"),
        ('{"file_name": 3, "tags": ["dog"]}', "file_name of .*line 2, is the value 3"),
        ('{"file_name": "a.jpg"}', "line 2, has nothing as tags"),
        ('{"file_name": "a.jpg", "tags": 5}', "line 2, has the value 5 as tags"),
        ('{"file_name": "a.jpg", "tags": ["dog", 5]}', "line 2, has a list as tags"),
        ('{"file_name": "\\ud800.jpg", "tags": ["dog"]}', "there is no photo"),
        ('{"file_name": "a.jpg", "tags": ["\\ud800"]}', "cannot be shown"),
        ('{"file_name": "a\\u0000.jpg", "tags": []}', "there is no photo"),
    ],
)
def test_lines_with_a_fault_are_refused_at_their_place(write: Write, line: str, message: str) -> None:
    with pytest.raises(TagsError, match=message):
        read_tags(write({**PHOTOS, "metadata.jsonl": f'{{"file_name": "c.jpg", "tags": "dog"}}\n{line}\n'}))


def test_two_tables_in_one_folder_are_one_too_many(write: Write) -> None:
    with pytest.raises(TagsError, match=r"has both metadata\.csv and metadata\.jsonl"):
        read_tags(write({**PHOTOS, "metadata.csv": CSV, "metadata.jsonl": JSONL}))

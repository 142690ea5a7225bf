"""Tags in a table beside the photos: ``metadata.csv`` or ``metadata.jsonl`` with file_name and tags."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tag2box.data.formats.parsing import Mention, field, find_mentioned, inside, kind_of, parse_json, read_text
from tag2box.data.tags import TagSet, clean_tags, split_tags
from tag2box.errors import TagsError

COLUMNS = ("file_name", "tags")
EXPECTED = "a header with the columns file_name,tags and lines such as rex.jpg,dog;ball"


def is_table(place: Path) -> bool:
    """Whether a place is a table, or a folder with one that has the name for it."""
    return _find_table(place) is not None if os.path.isdir(place) else place.suffix.lower() in {".csv", ".jsonl"}


def read_table(place: Path) -> TagSet:
    """The photos that a table lists: a CSV file, or a file with one JSON object on each line (.jsonl).

    Several tags are split by semicolons; in JSON they may also be a list.
    """
    path = _find_table(place) or place
    mentions = _jsonl_mentions(path) if path.suffix.lower() == ".jsonl" else _csv_mentions(path)
    return TagSet.build(path.parent, find_mentioned(mentions, path), path.name)


def _find_table(folder: Path) -> Path | None:
    found = [folder / name for name in ("metadata.csv", "metadata.jsonl") if os.path.isfile(folder / name)]
    if len(found) > 1:
        raise TagsError(f"{folder} has both {found[0].name} and {found[1].name}.", "one of them", "remove the other.")
    return found[0] if found else None


def _mention(path: Path, name: str, words: Sequence[str], line: int) -> Mention:
    where = f"line {line}"
    message = f"{path}, {where}"
    return Mention([inside(path.parent, name, message)], clean_tags(words, message), where)


def _csv_mentions(path: Path) -> Iterator[Mention]:
    rows = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    try:
        header = [name.strip() for name in next(rows, [])]
        name, tags = _columns(header, path)
        for row in rows:
            if row:
                _require_width(row, header, f"{path}, line {rows.line_num}")
                yield _mention(path, row[name], split_tags(row[tags]), rows.line_num)
    except csv.Error as error:
        raise TagsError(
            f"{path}, line {rows.line_num}, is not CSV: {error}.", EXPECTED, "check the quotes there."
        ) from error


def _columns(header: Sequence[str], path: Path) -> tuple[int, int]:
    if any(header.count(name) != 1 for name in COLUMNS):
        raise TagsError(
            f"the columns of {path} are {', '.join(map(repr, header)) or 'missing'}.",
            EXPECTED,
            "make the first line file_name,tags (with a comma between).",
        )
    return header.index(COLUMNS[0]), header.index(COLUMNS[1])


def _require_width(row: Sequence[str], header: Sequence[str], where: str) -> None:
    if len(row) != len(header):
        raise TagsError(
            f"{where}, does not fit the header: it has {len(row)} values instead of {len(header)}.",
            EXPECTED,
            "split tags by semicolons, and put a value that has a comma in double quotes.",
        )


def _jsonl_mentions(path: Path) -> Iterator[Mention]:
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            where = f"{path}, line {number},"
            record = parse_json(line, where)
            yield _mention(path, field(record, COLUMNS[0], str, where), _words(record, where), number)


def _words(record: Any, where: str) -> list[str]:
    tags = record.get(COLUMNS[1])
    words = split_tags(tags) if isinstance(tags, str) else tags
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise TagsError(
            f"{where} has {kind_of(words)} as tags.",
            'tags as a list of texts, or a text such as "dog;ball"',
            "correct the line; a photo without any of the things has the tags [].",
        )
    return words

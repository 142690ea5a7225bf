"""Files that say what is in photos, as text, JSON or XML, and the photos that they speak of.

Whatever is wrong with a file is said with its name and the place in it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from xml.etree import ElementTree as ET

from tag2box.boxes import Size
from tag2box.errors import DatasetError, PhotoError, TagsError

Kind = TypeVar("Kind", str, list[Any], dict[str, Any])

KINDS = {str: "a text", list: "a list", dict: "an object", type(None): "nothing"}


class Mention(NamedTuple):
    """A photo as a file speaks of it."""

    candidates: Sequence[Path]
    """Where the photo may be, the likeliest place first"""
    tags: frozenset[str]
    where: str
    """The place in the file, such as "line 3" """


@contextmanager
def as_truth() -> Iterator[None]:
    """What is wrong with a file, said of true boxes instead of tags."""
    try:
        yield
    except (TagsError, PhotoError) as error:
        raise DatasetError(error.wrong, error.expected, error.remedy) from error


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, without a byte order mark."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise TagsError(
            f"{path} cannot be read: {error.strerror or error}.", "a file that may be opened", "check the file."
        ) from error
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TagsError(
            f"{path} is not UTF-8: byte {error.start}, in line {line}, is {content[error.start]:#04x}.",
            "a text file in UTF-8",
            "save it as UTF-8.",
        ) from error


def read_json(path: Path) -> Any:
    """The content of a JSON file."""
    return parse_json(read_text(path), str(path))


def parse_json(text: str, where: str) -> Any:
    """The value that a JSON text stands for."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TagsError(f"{where} is not JSON: {error}.", "a whole JSON text", "write or export it again.") from error


def read_xml(path: Path) -> ET.Element:
    """The root of an XML file."""
    return parse_xml(read_text(path), str(path))


def parse_xml(text: str, where: str) -> ET.Element:
    """The root of an XML text; one that defines entities is refused, since a small one can grow without end."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise TagsError(f"{where} has a DOCTYPE.", "an XML file without DOCTYPE and entities", "remove those lines.")
    try:
        return ET.fromstring(text)  # noqa: S314 (no entities in it)
    except (ET.ParseError, ValueError) as error:
        raise TagsError(f"{where} is not XML: {error}.", "a whole XML file", "write or export it again.") from error


def field(record: Any, name: str, kind: type[Kind], where: str) -> Kind:
    """The value of a field of a JSON object; it must be there and of its kind."""
    value = _value(record, name, where, KINDS[kind])
    if not isinstance(value, kind):
        raise _wrong_field(f"{name} of {where} is {kind_of(value)}", name, KINDS[kind])
    return value


def id_field(record: Any, name: str, where: str) -> int | str:
    """The value of a field that tells records apart."""
    value = _value(record, name, where, "a number or a text")
    if not isinstance(value, int | str):
        raise _wrong_field(f"{name} of {where} is {kind_of(value)}", name, "a number or a text")
    return value


def numbers(values: Iterable[Any], where: str) -> list[float]:
    """Values as numbers; a text that is one will do, as formats of text have it."""
    try:
        found = [float(value) for value in values]
    except (TypeError, ValueError, OverflowError):
        found = [float("nan")]
    if not all(map(isfinite, found)):
        raise TagsError(
            f"{where} has a box that is not made of numbers.", "a box of numbers", "check the file, or export it again."
        )
    return found


def size_of(height: Any, width: Any, where: str) -> Size:
    """Height and width of a photo, which must be there and above zero."""
    try:
        size = (int(height), int(width))
    except (TypeError, ValueError, OverflowError):
        size = (0, 0)
    if min(size) < 1:
        raise TagsError(
            f"{where} has the height {height!r} and the width {width!r}.",
            "the size of the photo in pixels",
            "check the file, or export it again.",
        )
    return size


def box_numbers(values: Any, where: str) -> tuple[float, float, float, float]:
    """The four numbers of a box."""
    found = numbers(values if isinstance(values, Iterable) else [None], where)
    if len(found) != 4:
        raise TagsError(f"{where} has a box of {len(found)} numbers.", "four numbers", "check the file.")
    return (found[0], found[1], found[2], found[3])


def kind_of(value: Any) -> str:
    """What a JSON value is, in words."""
    return KINDS.get(type(value), f"the value {value!r}")


def _value(record: Any, name: str, where: str, wanted: str) -> Any:
    if not isinstance(record, dict):
        raise _wrong_field(f"{where} is {kind_of(record)}", name, wanted)
    if name not in record:
        raise _wrong_field(f"{where} has no {name}", name, wanted)
    return record[name]


def _wrong_field(wrong: str, name: str, wanted: str) -> TagsError:
    return TagsError(f"{wrong}.", f"{name} as {wanted}", "check the file, or export it again.")


def inside(folder: Path, name: str, where: str) -> Path:
    """The path of a name in a folder; a name that leads out of the folder is refused."""
    path = Path(name)
    if not name.strip() or path.is_absolute() or path.drive or ".." in path.parts:
        raise TagsError(
            f"{where}: the photo name {name!r} does not stay in its folder.",
            "a path such as dogs/rex.jpg, without .. and without a leading slash",
            "write the name as seen from the folder of the photos.",
        )
    return folder / path


def first_file(candidates: Iterable[Path]) -> Path | None:
    """The first of the paths at which there is a file."""
    return next((path for path in candidates if os.path.isfile(path)), None)


def find_mentioned(mentions: Iterable[Mention], file: Path) -> dict[Path, frozenset[str]]:
    """The path of every photo → its tags. Photos that are missing or mentioned twice are refused by name."""
    tags: dict[Path, frozenset[str]] = {}
    places: dict[Path, str] = {}
    missing: list[Mention] = []
    for mention in mentions:
        path = first_file(mention.candidates)
        if path is None:
            missing.append(mention)
        elif path in tags:
            raise _twice(path, places[path], mention.where, file)
        else:
            tags[path], places[path] = mention.tags, mention.where
    if missing:
        raise _missing(missing, file)
    return tags


def _twice(path: Path, first: str, second: str, file: Path) -> TagsError:
    return TagsError(
        f"{file} names the photo {str(path)!r} twice: in {first} and in {second}.",
        "every photo once, with all its tags",
        "join the two.",
    )


def _missing(missing: Sequence[Mention], file: Path) -> TagsError:
    first = missing[0]
    others = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
    return TagsError(
        f"{file}, {first.where}: there is no photo {str(first.candidates[0])!r}{others}.",
        "the photo at " + " or ".join(repr(str(path)) for path in first.candidates),
        "put the photo there, correct its name (upper and lower case count), or take it out of the file.",
    )

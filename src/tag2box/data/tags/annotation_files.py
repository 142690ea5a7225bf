"""Files that say what is in photos, as text, JSON or XML; whatever is wrong with one is said with its name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar
from xml.etree import ElementTree as ET

from tag2box.errors import TagsError

Kind = TypeVar("Kind", str, list[Any], dict[str, Any])

KINDS = {str: "a text", list: "a list", dict: "an object", type(None): "nothing"}


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
    """The root of an XML file; one that defines entities is refused, since a small one can grow without end."""
    text = read_text(path)
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise TagsError(f"{path} has a DOCTYPE.", "an XML file without DOCTYPE and entities", "remove those lines.")
    try:
        return ET.fromstring(text)  # noqa: S314 (no entities in it)
    except (ET.ParseError, ValueError) as error:
        raise TagsError(f"{path} is not XML: {error}.", "a whole XML file", "write or export it again.") from error


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

"""The little of YAML that a YOLO dataset needs: where its photos are, and the names of its classes."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from tag2box.data.formats.parsing import parse_json, read_text
from tag2box.errors import TagsError

EXPECTED = "path, train and val as paths, and names as [a, b], as lines of '- a', or as lines of '0: a'"

TOP_LINE = re.compile(r"(\w[\w.-]*)[ \t]*:(?:[ \t]+(.*))?")
COMMENT = re.compile(r"""((?<![^\s,\[{:])'[^']*'|(?<![^\s,\[{:])"(?:\\.|[^"\\])*")|(?<!\S)#.*""")
ITEM = re.compile(r"""\s*('(?:[^']|'')*'|"(?:\\.|[^"\\])*"|[^\s,\[\]{}'"][^,\[\]{}]*)\s*(?:,|\Z)""")
MAPPED = re.compile(r"(\d{1,9})\s*:\s+(.*)")
LONG_ESCAPE = re.compile(r"\\(?:U([0-9a-fA-F]{8})|.)")
"""A letter by its number, as JSON does not have it; any other pair with a backslash stays as it is."""
SPECIAL = tuple("&*!|>%@`{}[],?#'\"")
"""What a plain value cannot begin with."""

Value = str | list[str] | dict[int, str]


@final
@dataclass(frozen=True)
class YoloFile:
    """What a ``data.yaml`` says."""

    root: str
    photos: tuple[str, ...]
    """Folders of the photos for training and for validation, as seen from the root"""
    names: Mapping[int, str]


def is_yolo_yaml(path: Path) -> bool:
    """Whether a YAML file names classes."""
    return bool(re.search(r"^names[ \t]*:", read_text(path), flags=re.MULTILINE))


def read_yolo_yaml(path: Path) -> YoloFile:
    """The keys path, train, val and names of a file; other keys are passed over."""
    blocks = _blocks(path)
    values = {key: _value(blocks[key], f"{path}, {key}") for key in ("path", "train", "val", "names") if key in blocks}
    root, names = values.get("path", ""), values.get("names", "")
    if isinstance(names, str):
        raise _not_understood(f"{path} names no classes")
    if not isinstance(root, str):
        raise _not_understood(f"{path} has several paths")
    photos = [place for key in ("train", "val") for place in _places(values.get(key, ""), f"{path}, {key}")]
    if not photos:
        raise _not_understood(f"{path} says of no photos where they are")
    numbered = names if isinstance(names, dict) else dict(enumerate(names))
    return YoloFile(root, tuple(dict.fromkeys(photos)), numbered)


def _places(value: Value, where: str) -> list[str]:
    if isinstance(value, dict):
        raise _not_understood(f"{where} is not a path")
    return [place for place in ([value] if isinstance(value, str) else value) if place]


def _blocks(path: Path) -> dict[str, list[str]]:
    """Key of the outermost level → the rest of its line and the lines below that belong to it."""
    blocks: dict[str, list[str]] = {}
    key = ""
    for number, whole in enumerate(read_text(path).split("\n"), start=1):
        line = COMMENT.sub(lambda found: found[1] or "", whole).rstrip()
        top = TOP_LINE.fullmatch(line)
        if top:
            key = top[1]
            blocks[key] = [top[2] or ""]
        elif key and line.startswith((" ", "\t", "-", "]")) and not line.startswith("---"):
            blocks[key].append(line.strip())
        elif line and not line.startswith(("---", "...", "%YAML")):
            raise _not_understood(f"{path}, line {number}, is {line[:80]!r}")
    return blocks


def _value(block: list[str], where: str) -> Value:
    first, *lines = block
    text = " ".join(filter(None, block))
    if text.startswith("["):
        return _inline_list(text, where)
    if first or not lines:
        return _scalar(text, where) if text else ""
    if all(line == "-" or line.startswith("- ") for line in lines):
        return [_scalar(line[1:], where) for line in lines]
    numbered = [MAPPED.fullmatch(line) for line in lines]
    mapped = {int(found[1]): _scalar(found[2], where) for found in numbered if found}
    if len(mapped) < len(lines):
        raise _not_understood(f"{where} is neither a list nor a mapping of numbers")
    return mapped


def _inline_list(text: str, where: str) -> list[str]:
    if not text.endswith("]"):
        raise _not_understood(f"{where} is a list without its ]")
    inner, items, place = text[1:-1].rstrip(), [], 0
    while place < len(inner):
        found = ITEM.match(inner, place)
        if not found:
            raise _not_understood(f"{where} has {inner[place : place + 40]!r} in its list")
        items.append(_scalar(found[1], where))
        place = found.end()
    return items


def _scalar(text: str, where: str) -> str:
    """A value without its quotes."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        return str(parse_json(LONG_ESCAPE.sub(_short_escape, text), where))
    if not text or text.startswith(SPECIAL) or ": " in text:
        raise _not_understood(f"{where} has {text[:40]!r}")
    return text


def _short_escape(found: re.Match[str]) -> str:
    """The letter itself: only what ends or begins something is in need of an escape, and is written by a short one."""
    number = int(found[1], 16) if found[1] else -1
    return json.dumps(chr(number))[1:-1] if 0 <= number <= sys.maxunicode else found[0]


def _not_understood(wrong: str) -> TagsError:
    return TagsError(f"{wrong}.", EXPECTED, "write the file in this way.")

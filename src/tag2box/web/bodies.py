"""What a page sends, checked by hand: whatever is not as it should be is refused in words, and nothing is guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request

from tag2box.boxes import Box
from tag2box.data.tags import clean_name, name_fault
from tag2box.errors import RequestError
from tag2box.product.places import Point

MOST_JSON = 200_000
"""Bytes of a question in JSON."""
MOST_AT_ONCE = 500
"""Photos or tags that a question is about."""
LONGEST_TITLE = 200
KINDS = ("shows", "points", "shows not", "tag", "accept")
ID = re.compile(r"[0-9a-f]{16}")
FARTHEST = 1e6
"""Pixels from the corner of a photo."""


class Word(NamedTuple):
    """What a page says of a photo and a thing."""

    photo: str
    """Its id"""
    label: str
    kind: str
    box: Box | None = None
    row: int | None = None
    point: Point | None = None
    """Where a click was"""


async def body_of(request: Request, most: int) -> bytes:
    """The body of a request; 413 if it is longer than allowed, whatever it says of itself."""
    told = request.headers.get("content-length", "0")
    if not told.isdecimal() or int(told) > most:
        raise HTTPException(413, f"more than {most:,} bytes")
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > most:
            raise HTTPException(413, f"more than {most:,} bytes")
    return bytes(content)


async def json_of(request: Request, keys: Collection[str]) -> dict[str, Any]:
    """The JSON object of a request, with no other keys than these."""
    if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
        raise HTTPException(415, "the body has to be application/json")
    content = await body_of(request, MOST_JSON)
    try:
        given = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _bad("the body is no JSON", "a JSON object") from error
    if not isinstance(given, dict):
        raise _bad("the body is no JSON object", "a JSON object")
    if strangers := sorted(set(given) - set(keys)):
        raise _bad(f"{strangers[0]!r} means nothing here", f"no more than {', '.join(sorted(keys)) or 'an empty one'}")
    return given


def word_of(given: dict[str, Any]) -> Word:
    """A correction, in its parts."""
    kind = given.get("kind")
    if kind not in KINDS:
        raise _bad(f"the kind is {kind!r}", f"one of {', '.join(KINDS)}")
    box = box_of(given["box"]) if given.get("box") is not None else None
    row = given.get("row")
    if row is not None and (type(row) is not int or not 0 <= row < FARTHEST):
        raise _bad(f"the row is {row!r}", "the number of a region")
    if kind == "shows" and box is None:
        raise _bad("there is no box", "where the thing is: x0 y0 x1 y1")
    point = point_of(given.get("point")) if kind == "points" else None
    return Word(id_of(given.get("photo")), label_of(given.get("label")), kind, box, row, point)


def id_of(value: object) -> str:
    """The id of a photo."""
    if not isinstance(value, str) or not ID.fullmatch(value):
        raise _bad("that is no id of a photo", "16 digits and letters a to f")
    return value


def ids_of(value: object) -> list[str]:
    """Ids of photos, each once."""
    if not isinstance(value, list) or not 0 < len(value) <= MOST_AT_ONCE:
        raise _bad("that is no list of photos", f"ids of 1 to {MOST_AT_ONCE} photos")
    return list(dict.fromkeys(id_of(one) for one in value))


def labels_of(value: object) -> list[str]:
    """Tags, each once."""
    if not isinstance(value, list) or len(value) > MOST_AT_ONCE:
        raise _bad("that is no list of tags", f"up to {MOST_AT_ONCE} tags")
    return list(dict.fromkeys(label_of(one) for one in value))


def label_of(value: object) -> str:
    """A tag, by the law of names."""
    if fault := name_fault(value):
        raise _bad(f"the tag {fault}", "a word or a few")
    return clean_name(str(value))


def title_of(value: str) -> str:
    """The name of a file, for people: it names no file here."""
    shown = "".join(letter for letter in clean_name(value) if letter.isprintable())
    return shown.replace("\\", "/").rsplit("/", 1)[-1][-LONGEST_TITLE:] or "photo"


def box_of(value: object) -> Box:
    """Four edges, each a number of pixels."""
    if not isinstance(value, list) or len(value) != 4 or not all(map(_is_number, value)):
        raise _bad("that is no box", "x0 y0 x1 y1, in pixels of the photo")
    x0, y0, x1, y1 = map(float, value)
    return x0, y0, x1, y1


def point_of(value: object) -> Point:
    """Two numbers of pixels."""
    if not isinstance(value, list) or len(value) != 2 or not all(map(_is_number, value)):
        raise _bad("that is no point", "x y, in pixels of the photo")
    return float(value[0]), float(value[1])


def share_of(value: object, name: str) -> float:
    """A number between 0 and 1, neither of them."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0.0 < value < 1.0:
        raise _bad(f"{name} is {value!r}", "a number between 0 and 1")
    return float(value)


def _is_number(value: object) -> bool:
    """Neither a truth value nor infinite, and not beyond any photo."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -FARTHEST <= value <= FARTHEST


def _bad(wrong: str, expected: str) -> RequestError:
    return RequestError(f"{wrong[:300]}.", expected, "send it again, or load the page anew.")

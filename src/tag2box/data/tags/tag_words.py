"""What counts as a tag."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from tag2box.errors import TagsError

NONE = "_none"
"""The folder of photos that show none of the things."""

LONGEST_TAG = 200
SEPARATOR = ";"


def clean_tags(words: Iterable[str], where: str) -> frozenset[str]:
    """The words as tags: trimmed, accents composed, empty ones dropped; ``where`` they stood is for the message."""
    tags = frozenset(unicodedata.normalize("NFC", word).strip() for word in words) - {""}
    for tag in sorted(tags):
        fault = _fault(tag)
        if fault:
            raise TagsError(
                f"{where}: the tag {_shortened(tag)!r} {fault}.",
                f"a word or a few, at most {LONGEST_TAG} characters",
                "write another tag.",
            )
    return tags


def split_tags(text: str) -> list[str]:
    """The words between the semicolons of a text."""
    return text.split(SEPARATOR)


def _fault(tag: str) -> str:
    if len(tag) > LONGEST_TAG:
        return f"has {len(tag)} characters"
    if any(unicodedata.category(letter) in {"Cc", "Cs"} for letter in tag):
        return "has characters that cannot be shown"
    if tag == NONE:
        return "is the name of the folder for photos without any of the things: here, give such a photo no tag"
    return ""


def _shortened(tag: str) -> str:
    return tag if len(tag) <= LONGEST_TAG else f"{tag[:40]}…"

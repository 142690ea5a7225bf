"""Numbers of things, said as people say them."""

from __future__ import annotations

HISSING = ("s", "x", "ch", "sh")
"""After these an English plural needs a vowel."""


def counted(number: int, thing: str, things: str | None = None) -> str:
    """``1 photo``, ``2 photos``, ``1,200 boxes``; ``things`` is for words whose plural follows no rule."""
    if number == 1:
        return f"1 {thing}"
    return f"{number:,} {things or thing + ('es' if thing.endswith(HISSING) else 's')}"

"""Words that go with numbers."""

from __future__ import annotations

import pytest

from tag2box.words import counted


@pytest.mark.parametrize(
    ("number", "thing", "said"),
    [
        (0, "photo", "0 photos"),
        (1, "photo", "1 photo"),
        (2, "tag", "2 tags"),
        (1234, "box", "1,234 boxes"),
        (1, "class", "1 class"),
        (3, "class", "3 classes"),
        (2, "batch", "2 batches"),
        (2, "dish", "2 dishes"),
        (1_000_000, "image", "1,000,000 images"),
    ],
)
def test_one_is_one_and_others_are_many(number: int, thing: str, said: str) -> None:
    assert counted(number, thing) == said


def test_a_plural_may_be_given() -> None:
    assert counted(1, "kind of thing", "kinds of thing") == "1 kind of thing"
    assert counted(2, "kind of thing", "kinds of thing") == "2 kinds of thing"

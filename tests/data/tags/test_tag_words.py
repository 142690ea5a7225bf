"""What counts as a tag."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tag2box.data.tags.tag_words import clean_tags, split_tags
from tag2box.errors import TagsError


def test_words_are_trimmed_and_empty_ones_dropped() -> None:
    assert clean_tags(split_tags(" big dog ;; ball;ball;\t"), "here") == {"ball", "big dog"}
    assert clean_tags([], "here") == frozenset()


def test_a_composed_and_a_decomposed_accent_are_one_tag() -> None:
    assert clean_tags(["café", "cafe\u0301"], "here") == {"café"}


@pytest.mark.parametrize("word", ["a\0b", "a\nb", "\x7f", "\ud800", "x" * 201, "_none"])
def test_what_cannot_be_a_tag_is_refused_with_its_place(word: str) -> None:
    with pytest.raises(TagsError, match="here: the tag"):
        clean_tags(["dog", word], "here")


@given(st.lists(st.text(max_size=210)))
def test_clean_tags_stay_as_they_are(words: list[str]) -> None:
    try:
        tags = clean_tags(words, "here")
    except TagsError:
        return
    assert clean_tags(tags, "here") == tags

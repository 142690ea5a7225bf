"""The law of names, and which photos have which tags."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tag2box.data.tags import clean_tags, name_fault, shared_tags, split_tags
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
    assert not any(name_fault(tag) for tag in tags)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("big dog", ""),
        (" cafe\u0301 ", ""),
        (7, "is not a text"),
        ("  ", "is empty"),
        ("x" * 201, "has 201 characters"),
        ("two\nlines", "cannot be shown"),
        ("one line\n", "cannot be shown"),
        ("_none", "folder for photos without"),
    ],
)
def test_what_is_wrong_with_a_name_is_said(name: object, fault: str) -> None:
    assert bool(name_fault(name)) == bool(fault)
    assert fault in name_fault(name)


def test_a_tag_of_one_photo_is_no_tag_to_learn() -> None:
    tags = {"a": ["mug", "pen"], "b": ["mug"], "c": []}
    assert shared_tags(tags) == ({"mug": ["a", "b"]}, ["pen"])
    with pytest.raises(TagsError, match="no tag has two photos that can be used; with one photo: mug, pen"):
        shared_tags({"a": ["mug", "pen"]})
    with pytest.raises(TagsError, match=r"no tag has two photos that can be used\."):
        shared_tags({})


def test_one_photo_is_enough_where_somebody_has_said_where_the_thing_is() -> None:
    tags = {"a": ["pen", "mug"], "b": ["cup"]}
    assert shared_tags(tags, ["pen"]) == ({"pen": ["a"]}, ["cup", "mug"])

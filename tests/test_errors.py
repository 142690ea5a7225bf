"""Errors carry three answers and survive the trip between processes."""

from __future__ import annotations

import inspect
import pickle

import pytest

from tag2box import errors
from tag2box.errors import InputError

LEAVES = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, InputError)]


@pytest.mark.parametrize("kind", LEAVES)
def test_an_error_says_what_was_wrong_expected_and_to_do(kind: type[InputError]) -> None:
    error = kind("it is 3.", "2", "try 2.")
    assert str(error) == "it is 3.\n  expected: 2\n  what to do: try 2."


@pytest.mark.parametrize("kind", LEAVES)
def test_an_error_can_be_sent_to_another_process(kind: type[InputError]) -> None:
    back = pickle.loads(pickle.dumps(kind("a", "b", "c")))
    assert type(back) is kind
    assert str(back) == str(kind("a", "b", "c"))


def test_the_drawn_tree_names_every_error() -> None:
    drawn = errors.__doc__ or ""
    for kind in LEAVES:
        assert kind.__name__ in drawn


def test_wrong_input_is_a_value_error() -> None:
    assert issubclass(InputError, ValueError)

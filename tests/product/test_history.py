"""What can be undone and done again, told by the journal alone."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tag2box.product.corrections import Correction, Journal, Said, Tag, Undo, replay
from tag2box.product.history import History, history_of

GIVEN: dict[str, list[str]] = {"a": []}


def said(*breaths: Correction | tuple[Correction, ...]) -> list[Said]:
    """What is in a tuple is said in one breath."""
    lines: list[Said] = []
    for breath in breaths:
        whats: tuple[Correction, ...] = (breath,) if hasattr(breath, "_fields") else breath  # type: ignore[assignment]
        first = len(lines) + 1
        lines += [Said(first + at, "", "", what, first if len(whats) > 1 else 0) for at, what in enumerate(whats)]
    return lines


def test_a_small_case_by_hand() -> None:
    first, second = Tag("a", "mug"), Tag("a", "pen")
    assert history_of([]) == History((), ())
    assert history_of(said(first, second)) == History((2,), ())
    assert history_of(said(first, second, Undo(2))) == History((1,), (3,))
    assert history_of(said(first, second, Undo(2), Undo(1))) == History((), (4,))
    assert history_of(said(first, second, Undo(2), Undo(3))) == History((2,), ())
    assert history_of(said(first, Undo(1), second)) == History((3,), ())  # what was undone before is past


def test_what_was_said_in_one_breath_is_undone_in_one() -> None:
    one, both = Tag("a", "mug"), (Tag("a", "pen"), Tag("a", "cup"))
    assert history_of(said(one, both)) == History((2, 3), ())
    assert history_of(said(one, both, (Undo(2), Undo(3)))) == History((1,), (4, 5))
    assert history_of(said(one, both, (Undo(2), Undo(3)), (Undo(4), Undo(5)))) == History((2, 3), ())
    assert history_of(said(one, both, Undo(2))) == History((3,), (4,))  # by its number, one of them alone


@given(st.lists(st.tuples(st.sampled_from(["say", "undo", "redo"]), st.integers(1, 3)), max_size=25))
def test_undo_and_redo_go_through_the_states_as_in_any_editor(acts: list[tuple[str, int]]) -> None:
    """The oracle keeps whole states on two stacks."""
    states: list[frozenset[str]] = [frozenset()]
    ahead: list[frozenset[str]] = []
    breaths: list[tuple[Correction, ...]] = []
    for number, (act, count) in enumerate(acts, 1):
        history = history_of(said(*breaths))
        if act == "say":
            words = [f"{number} {place}" for place in range(count)]
            breaths.append(tuple(Tag("a", word) for word in words))
            states.append(states[-1] | set(words))
            ahead.clear()
        elif act == "undo":
            assert bool(history.undo) == (len(states) > 1)
            if history.undo:
                breaths.append(tuple(map(Undo, history.undo)))
                ahead.append(states.pop())
        else:
            assert bool(history.redo) == bool(ahead)
            if history.redo:
                breaths.append(tuple(map(Undo, history.redo)))
                states.append(ahead.pop())
        assert replay(GIVEN, said(*breaths)).tags["a"] == states[-1]


def test_it_is_the_same_from_the_disk(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "corrections.jsonl")
    for what in (Tag("a", "mug"), Tag("a", "pen"), Undo(2), Undo(3), Undo(2)):
        journal.add(what, "then")
    assert history_of(journal.said()) == History((1,), (5,))
    assert journal.add_together([Tag("a", "cup"), Tag("a", "pot")], "then") == [6, 7]
    assert history_of(journal.said()) == History((6, 7), ())
    assert journal.add_together([Undo(6), Undo(7)], "then") == [8, 9]
    assert history_of(journal.said()) == History((1,), (8, 9))


def test_breaths_stay_together_in_another_journal(tmp_path: Path) -> None:
    here, there = Journal(tmp_path / "here.jsonl"), Journal(tmp_path / "there.jsonl")
    here.add(Tag("a", "pan"), "now")
    there.add_together([Tag("a", "cup"), Tag("a", "pot")], "then")
    there.add_together([Undo(1), Undo(2)], "then")
    here.take_over(there.said())
    here.take_over(there.said())  # a second time there is nothing new
    assert [one.number for one in here.said()] == [1, 2, 3, 4, 5]
    assert history_of(here.said()) == History((1,), (4, 5))

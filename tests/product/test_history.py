"""What can be undone and done again, told by the journal alone."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tag2box.product.corrections import Correction, Journal, Said, Tag, Undo, replay
from tag2box.product.history import History, history_of

GIVEN: dict[str, list[str]] = {"a": []}


def said(*whats: Correction) -> list[Said]:
    return [Said(number, "", "", what) for number, what in enumerate(whats, 1)]


def test_a_small_case_by_hand() -> None:
    first, second = Tag("a", "mug"), Tag("a", "pen")
    assert history_of([]) == History(None, None)
    assert history_of(said(first, second)) == History(2, None)
    assert history_of(said(first, second, Undo(2))) == History(1, 3)
    assert history_of(said(first, second, Undo(2), Undo(1))) == History(None, 4)
    assert history_of(said(first, second, Undo(2), Undo(3))) == History(2, None)
    assert history_of(said(first, Undo(1), second)) == History(3, None)  # what was undone before is past


@given(st.lists(st.sampled_from(["say", "undo", "redo"]), max_size=25))
def test_undo_and_redo_go_through_the_states_as_in_any_editor(acts: list[str]) -> None:
    """The oracle keeps whole states on two stacks."""
    states: list[frozenset[str]] = [frozenset()]
    ahead: list[frozenset[str]] = []
    lines: list[Said] = []
    for number, act in enumerate(acts, 1):
        history = history_of(lines)
        if act == "say":
            lines.append(Said(number, "", "", Tag("a", str(number))))
            states.append(states[-1] | {str(number)})
            ahead.clear()
        elif act == "undo":
            assert (history.undo is None) == (len(states) == 1)
            if history.undo is not None:
                lines.append(Said(number, "", "", Undo(history.undo)))
                ahead.append(states.pop())
        else:
            assert (history.redo is None) == (not ahead)
            if history.redo is not None:
                lines.append(Said(number, "", "", Undo(history.redo)))
                states.append(ahead.pop())
        assert replay(GIVEN, lines).tags["a"] == states[-1]


def test_it_is_the_same_from_the_disk(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "corrections.jsonl")
    for what in (Tag("a", "mug"), Tag("a", "pen"), Undo(2), Undo(3), Undo(2)):
        journal.add(what, "then")
    assert history_of(journal.said()) == History(1, 5)

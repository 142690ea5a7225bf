"""What can be undone and done again: the journal only grows, and both are lines of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from tag2box.product.corrections import Said, Undo


class _TakenBack(NamedTuple):
    """Numbers of corrections and of the Undos that took them back."""

    corrections: tuple[int, ...]
    undos: tuple[int, ...]


class History(NamedTuple):
    """What the next Undos would be about, if there is something to undo, or to do again."""

    undo: tuple[int, ...]
    redo: tuple[int, ...]


def history_of(said: Sequence[Said]) -> History:
    """The last corrections that count, and the last Undos since; a new correction makes the undone ones past.

    What was said in one breath is undone, and done again, together.
    """
    done: list[tuple[int, ...]] = []
    back: list[_TakenBack] = []
    for breath in _breaths(said):
        numbers = tuple(one.number for one in breath)
        undone = {one.what.undoes for one in breath if isinstance(one.what, Undo)}
        taken = tuple(number for each in done for number in each if number in undone)
        if not undone:
            done.append(numbers)
            back.clear()
        elif taken:
            done = [left for each in done if (left := tuple(number for number in each if number not in undone))]
            back.append(_TakenBack(taken, numbers))
        else:
            again = [each for each in back if undone & set(each.undos)]
            back = [each for each in back if each not in again]
            done += [each.corrections for each in again]
    return History(done[-1] if done else (), back[-1].undos if back else ())


def _breaths(said: Sequence[Said]) -> Iterator[list[Said]]:
    """What was said together, in its order."""
    for _, together in groupby(said, key=lambda one: one.breath or one.number):
        yield list(together)

"""What can be undone and done again: the journal only grows, and both are lines of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tag2box.product.corrections import Said, Undo


class _TakenBack(NamedTuple):
    """Numbers of a correction and of the Undo that took it back."""

    correction: int
    undo: int


class History(NamedTuple):
    """What the next Undo would be about, if there is something to undo, or to do again."""

    undo: int | None
    redo: int | None


def history_of(said: Sequence[Said]) -> History:
    """The last correction that counts, and the last Undo since; a new correction makes the undone ones past."""
    done: list[int] = []
    back: list[_TakenBack] = []
    for one in said:
        if not isinstance(one.what, Undo):
            done.append(one.number)
            back.clear()
        elif one.what.undoes in done:
            done.remove(one.what.undoes)
            back.append(_TakenBack(one.what.undoes, one.number))
        else:
            again = [each for each in back if each.undo == one.what.undoes]
            back = [each for each in back if each not in again]
            done += [each.correction for each in again]
    return History(done[-1] if done else None, back[-1].undo if back else None)

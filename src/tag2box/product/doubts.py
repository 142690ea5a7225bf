"""A table of what was found, sorted by what needs a person: for eyes, for notebooks and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple, final

from tag2box.boxes import Box
from tag2box.methods.calibration import SUSPECT
from tag2box.product.album import Album, PhotoName
from tag2box.product.finding import ERROR_RATE, Found, need_a_look
from tag2box.viz import NEUTRAL, WRONG
from tag2box.words import counted

SHOWN = 40
"""Rows that are shown; all others are counted, and are in ``rows``."""
HEADINGS = ("photo", "tag", "box", "score", "doubt", "suspicion", "")


class Doubt(NamedTuple):
    """A box, and how far to doubt it."""

    photo: PhotoName
    """As ``show`` and ``correct`` take it"""
    label: str
    box: Box
    score: float
    """How much of the photo's weight is on it, between 0 and 1"""
    doubt: float
    """Probability that the box is wrong"""
    suspicion: float
    """Probability that the thing is not in the photo at all"""
    advice: str
    """What a person should do: "tag wrong?", "look", or nothing"""


@final
@dataclass(frozen=True)
class Doubts:
    """Every box: tags that look wrong first, then by doubt; what a person has said comes last."""

    rows: tuple[Doubt, ...]
    titles: tuple[str, ...]
    """What the photo of each row is called in the table"""

    @classmethod
    def of(cls, found: Found, album: Album) -> Doubts:
        """The boxes that were found in all photos of an album."""
        watched = {each.place for each in need_a_look(found.by_doubt(), ERROR_RATE)}
        others = [each for each in found.by_doubt() if each.box.absence < SUSPECT]
        rows, titles = list[Doubt](), list[str]()
        for each in (*found.suspects(), *others):
            place, box = int(each.photo), each.box
            advice = "tag wrong?" if box.absence >= SUSPECT else "look" if each.place in watched else ""
            rows.append(Doubt(album.names[place], box.label, box.box, box.score, box.doubt, box.absence, advice))
            titles.append(album.title(place))
        return cls(tuple(rows), tuple(titles))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Doubt]:
        return iter(self.rows)

    def __getitem__(self, place: int) -> Doubt:
        return self.rows[place]

    def __repr__(self) -> str:
        lines = [HEADINGS, *self._cells()]
        widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
        table = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
        return "\n".join([self._summary(), *table, *self._rest()])

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        head = "".join(f"<th>{heading}</th>" for heading in HEADINGS)
        body = "".join(_html_row(row, cells) for row, cells in zip(self.rows, self._cells(), strict=False))
        rest = "".join(f"<p>{words}</p>" for words in self._rest())
        return f"<p>{self._summary()}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"

    def _summary(self) -> str:
        wanted = sum(bool(row.advice) for row in self.rows)
        return f"{counted(len(self), 'box')}, {wanted:,} for a person to look at"

    def _rest(self) -> list[str]:
        hidden = len(self) - SHOWN
        return [f"… and {hidden:,} more, less doubtful"] if hidden > 0 else []

    def _cells(self) -> list[tuple[str, ...]]:
        """The rows that are shown, as words."""
        return [_cells(row, title) for row, title in zip(self.rows[:SHOWN], self.titles, strict=False)]


def _cells(row: Doubt, title: str) -> tuple[str, ...]:
    box = " ".join(f"{edge:.0f}" for edge in row.box)
    return (title, row.label, box, f"{row.score:.2f}", f"{row.doubt:.2f}", f"{row.suspicion:.2f}", row.advice)


def _html_row(row: Doubt, cells: Sequence[str]) -> str:
    colour = WRONG if row.suspicion >= SUSPECT else NEUTRAL
    mark = f" style='border-left:4px solid {colour}'" if row.advice else ""
    return f"<tr{mark}>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"

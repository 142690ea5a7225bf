"""What a person said is never lost, and the last word counts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tag2box.errors import RunError
from tag2box.product.corrections import Correction, Journal, Known, Said, Shows, ShowsNot, Tag, Undo, replay

PHOTOS, LABELS = ("a", "b", "c"), ("mug", "pen")
GIVEN = {"a": {"mug"}, "b": {"mug", "pen"}, "c": set[str]()}
BOX = (1.0, 2.0, 30.0, 40.0)

about = st.tuples(st.sampled_from(PHOTOS), st.sampled_from(LABELS))
words = st.one_of(
    about.map(lambda each: Tag(*each)),
    about.map(lambda each: ShowsNot(*each)),
    st.tuples(about, st.integers(0, 9)).map(lambda each: Shows(*each[0], BOX, each[1])),
)


def said(whats: list[Correction]) -> list[Said]:
    return [Said(number, "now", "me", what) for number, what in enumerate(whats, 1)]


def without_numbers(known: Known) -> object:
    regions = {
        label: {photo: (at.box, at.row) for photo, at in places.items()} for label, places in known.regions.items()
    }
    return known.tags, regions, known.strangers


def test_every_word_by_hand() -> None:
    known = replay(GIVEN, said([Shows("a", "mug", BOX, 3), ShowsNot("b", "pen"), Tag("c", "pen"), Tag("z", "mug")]))
    assert known.tags == {"a": {"mug"}, "b": {"mug"}, "c": {"pen"}}
    assert {label: dict(places) for label, places in known.regions.items()} == {"mug": {"a": (BOX, 3, 1)}}
    assert known.strangers == ("z",)
    assert replay(GIVEN, []).tags == {photo: frozenset(tags) for photo, tags in GIVEN.items()}


def test_the_last_word_counts() -> None:
    known = replay(GIVEN, said([Shows("a", "mug", BOX), ShowsNot("a", "mug"), Tag("a", "mug")]))
    assert known.tags["a"] == {"mug"}
    assert not known.regions  # it is there, but nobody says where any more
    assert replay(GIVEN, said([ShowsNot("a", "mug"), Shows("a", "mug", BOX)])).regions["mug"]["a"].number == 2


@given(st.lists(words, max_size=12), st.randoms())
def test_the_order_between_photos_does_not_matter(whats: list[Correction], random: object) -> None:
    by_photo = {photo: [what for what in whats if what.photo == photo] for photo in PHOTOS}  # type: ignore[union-attr]
    mixed: list[Correction] = []
    left = {photo: list(each) for photo, each in by_photo.items()}
    while any(left.values()):
        photo = random.choice([photo for photo in PHOTOS if left[photo]])  # type: ignore[attr-defined]
        mixed.append(left[photo].pop(0))
    assert without_numbers(replay(GIVEN, said(mixed))) == without_numbers(replay(GIVEN, said(whats)))


@given(st.lists(words, min_size=1, max_size=10), st.data())
def test_what_is_undone_is_as_if_never_said_and_can_come_back(whats: list[Correction], draw: st.DataObject) -> None:
    place = draw.draw(st.integers(0, len(whats) - 1))
    everything = said(whats)
    undone = [*everything, Said(len(whats) + 1, "now", "me", Undo(place + 1))]
    assert replay(GIVEN, undone) == replay(GIVEN, everything[:place] + everything[place + 1 :])
    again = [*undone, Said(len(whats) + 2, "now", "me", Undo(len(whats) + 1))]
    assert replay(GIVEN, again) == replay(GIVEN, everything)


def test_a_journal_gives_back_what_it_was_told(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "corrections.jsonl")
    whats: list[Correction] = [Shows("é.jpg", "mug", BOX), Shows("b", "mug", BOX, 7), ShowsNot("b", "pen"), Undo(2)]
    assert [journal.add(what, "then", "me") for what in whats] == [1, 2, 3, 4]
    assert [one.what for one in journal.said()] == whats
    assert [one.number for one in journal.said()] == [1, 2, 3, 4]
    assert journal.said()[0] == Said(1, "then", "me", whats[0])
    assert len(journal.path.read_text(encoding="utf-8").splitlines()) == 4


def test_an_undo_is_undone_also_from_the_disk(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "corrections.jsonl")
    for what in (Tag("a", "mug"), Undo(1), Undo(2)):
        journal.add(what, "then")
    assert replay({"a": []}, journal.said()).tags == {"a": {"mug"}}
    journal.add(Undo(1), "then")
    assert replay({"a": []}, journal.said()).tags == {"a": set()}


def test_an_undo_of_old_which_has_no_number_of_its_own_is_understood(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "corrections.jsonl")
    journal.add(Tag("a", "mug"), "then")
    journal.path.write_text(journal.path.read_text() + '{"number": 1, "at": "", "by": "", "kind": "undo"}\n')
    assert journal.said()[1] == Said(2, "", "", Undo(1))
    assert journal.add(Tag("a", "pen"), "then") == 3


def test_a_line_that_was_cut_off_is_as_if_never_said(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "corrections.jsonl")
    journal.add(Tag("a", "mug"), "then")
    whole = journal.path.read_bytes()
    for length in range(1, len(whole)):
        journal.path.write_bytes(whole + whole[:length])
        assert len(journal.said()) == 1
    assert journal.add(Tag("b", "mug"), "then") == 2
    assert [one.what for one in journal.said()] == [Tag("a", "mug"), Tag("b", "mug")]


@pytest.mark.parametrize("line", ["nonsense", "{}", "7", '{"number": 1, "at": "", "by": "", "kind": "sings"}'])
def test_any_other_damage_is_named(tmp_path: Path, line: str) -> None:
    journal = Journal(tmp_path / "corrections.jsonl")
    journal.add(Tag("a", "mug"), "then")
    journal.path.write_text(f"{line}\n" + journal.path.read_text())
    with pytest.raises(RunError, match=r"line 1 of .*corrections\.jsonl cannot be read"):
        journal.said()


def test_what_was_said_elsewhere_is_taken_over_once(tmp_path: Path) -> None:
    there, here = Journal(tmp_path / "there.jsonl"), Journal(tmp_path / "here.jsonl")
    here.add(Tag("c", "pen"), "first")
    there.add(Shows("a", "mug", BOX), "1")
    there.add(Undo(1), "2")
    for _ in range(2):
        here.take_over(there.said())
    assert [one.what for one in here.said()] == [Tag("c", "pen"), Shows("a", "mug", BOX), Undo(2)]


def test_a_killed_writer_loses_no_word(tmp_path: Path) -> None:
    """It says what it has said; everything that it had said is there."""
    path = tmp_path / "corrections.jsonl"
    code = (
        "import sys; from pathlib import Path; from tag2box.product.corrections import Journal, Tag\n"
        "journal = Journal(Path(sys.argv[1]))\n"
        "for n in range(10_000): print(journal.add(Tag('p', str(n)), 't'), flush=True)"
    )
    for after in (3, 10, 25):
        path.unlink(missing_ok=True)
        with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            heard = [int(writer.stdout.readline()) for _ in range(after)]
            os.kill(writer.pid, signal.SIGKILL)
            heard += [int(line) for line in writer.stdout.read().splitlines() if line]
        numbers = [one.number for one in Journal(path).said()]
        assert numbers[: len(heard)] == heard == list(range(1, len(heard) + 1))
        json.loads(path.read_text().splitlines()[0])

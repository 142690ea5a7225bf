"""What commands print to: progress, the version, extras that are missing."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from rich.console import Console

from tag2box.cli.terminal import name_and_version, plain_console, require_extra, show_stages, step_progress
from tag2box.errors import InputError
from tag2box.product.events import Advanced, Began, Ended, Learned


def console_into(text: io.StringIO, *, is_terminal: bool) -> Console:
    return Console(file=text, force_terminal=is_terminal, width=120, highlight=False)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """A clock that a test turns on by hand."""
    now = [0.0]
    with monkeypatch.context() as patch:
        patch.setattr("tag2box.cli.terminal.time.monotonic", lambda: now[0])
        yield now


def test_progress_elsewhere_than_on_a_terminal_is_a_line_now_and_then(clock: list[float]) -> None:
    text = io.StringIO()
    with step_progress("Training", 10, console_into(text, is_terminal=False)) as report:
        for done, seconds in ((0, 0.0), (1, 10.0), (2, 40.0), (3, 50.0), (10, 60.0)):
            clock[0] = seconds
            report(done, {"loss": 0.25})
    assert text.getvalue().splitlines() == [
        "Training 2 of 10, 2.7 min left loss 0.250",
        "Training 10 of 10, 0.0 min left loss 0.250",
    ]


def test_the_time_that_is_left_is_judged_by_what_was_done_here(clock: list[float]) -> None:
    """A run that goes on at step 900 has not done 900 steps in its first second."""
    text = io.StringIO()
    with step_progress("Training", 1000, console_into(text, is_terminal=False)) as report:
        report(900, {})
        clock[0] = 60.0
        report(910, {})
    assert text.getvalue() == "Training 910 of 1,000, 9.0 min left\n"


def test_progress_on_a_terminal_is_a_bar_with_figures() -> None:
    text = io.StringIO()
    with step_progress("Looking", 3, console_into(text, is_terminal=True)) as report:
        report(3, {"loss": 0.5})
    assert "Looking" in text.getvalue()
    assert "3/3" in text.getvalue()
    assert "loss 0.500" in text.getvalue()


def test_names_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    plain_console().print("[red]mug[/red] :dog: 1 of 2")
    assert capsys.readouterr().out == "[red]mug[/red] :dog: 1 of 2\n"


def test_an_extra_that_is_missing_is_named_with_its_cure() -> None:
    require_extra("train", "json")
    with pytest.raises(InputError, match=r"no_such_module is not installed.*\n.*\n.*tag2box\[train\]"):
        require_extra("train", "json", "no_such_module")


def test_the_version_begins_with_the_name() -> None:
    assert name_and_version().startswith("tag2box")


def test_the_stages_of_a_run_are_shown_one_after_the_other(clock: list[float]) -> None:
    text = io.StringIO()
    with show_stages(console_into(text, is_terminal=False)) as show:
        show(Learned("mug", 3, 2.5))  # nothing to show, and before any stage
        for stage, total in (("extract", 2), ("localize", 1)):
            show(Began(stage, total))  # type: ignore[arg-type]
            for done in range(1, total + 1):
                show(Advanced(stage, done, total))  # type: ignore[arg-type]
            show(Ended(stage))  # type: ignore[arg-type]
    assert text.getvalue().splitlines() == [
        "Looking at photos 2 of 2, 0.0 min left",
        "Finding what they share 1 of 1, 0.0 min left",
    ]


def test_a_stage_that_is_stopped_leaves_a_whole_screen() -> None:
    text = io.StringIO()

    def stopped() -> None:
        with show_stages(console_into(text, is_terminal=True)) as show:
            show(Began("extract", 5))
            show(Advanced("extract", 1, 5))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert text.getvalue().count("\x1b[?25l") == text.getvalue().count("\x1b[?25h") == 1  # the cursor is back


def test_a_line_of_progress_stays_one_line_in_a_file(clock: list[float]) -> None:
    text = io.StringIO()
    with step_progress("Training", 1, Console(file=text, width=20, highlight=False)) as report:
        report(1, {"a loss with a long name": 0.25, "another one": 1.5})
    assert len(text.getvalue().splitlines()) == 1

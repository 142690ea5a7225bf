"""How the command line behaves when it is stopped, cut off, out of space or wrong, and what it shows of itself."""

from __future__ import annotations

import errno
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tag2box
from command_line import run
from tag2box.cli import endings
from tag2box.cli.app import PANELS

COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-9]")
UNUSUAL = {"NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "GITHUB_ACTIONS", "PY_COLORS", "TERM", "PYTHONUNBUFFERED"}
PLAIN_ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in UNUSUAL}

ODD_COMMANDS = """
import os, signal, time
from tag2box.cli.app import app, main

signal.signal(signal.SIGINT, signal.default_int_handler)

@app.command()
def slow():
    try:
        print("ready", flush=True)
        time.sleep(60)
    finally:
        print("stopping", flush=True)
        time.sleep(1)
        print("put away", flush=True)

@app.command()
def buggy():
    raise ZeroDivisionError("a bug")

@app.command()
def chatty():
    for number in range(100_000):
        print(number)

@app.command()
def brief():
    print("stays in the buffer until the end")

@app.command()
def troubled(number: int):
    raise OSError(number, os.strerror(number), "out/boxes.json")

@app.command()
def odd():
    print("a\\udcff ✓")

main()
"""


def odd_command(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", ODD_COMMANDS, *arguments]
    pipe, surroundings = subprocess.PIPE, PLAIN_ENVIRONMENT | environment
    return subprocess.Popen(command, text=True, stdout=pipe, stderr=pipe, env=surroundings)


@pytest.mark.parametrize("presses", [1, 2, 3])
def test_control_c_ends_in_130_with_a_word_however_often_it_is_pressed(presses: int) -> None:
    with odd_command("slow") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopping\n"
        for _ in range(presses - 1):
            process.send_signal(signal.SIGINT)
            time.sleep(0.1)
        said, complained = process.communicate(timeout=30)
    assert (process.returncode, said) == (130, "put away\n")
    assert complained == "Stopped. What is done stays; the same command goes on from there.\n"


def test_a_reader_that_leaves_is_no_reason_to_complain() -> None:
    with odd_command("chatty") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "0\n"
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


def ended(arguments: list[str], output: int) -> tuple[int, str]:
    """Exit code and complaints of a Python whose output goes to a file descriptor."""
    command, pipe = [sys.executable, *arguments], subprocess.PIPE
    done = subprocess.run(command, stdout=output, stderr=pipe, text=True, env=PLAIN_ENVIRONMENT, check=False)
    return done.returncode, done.stderr


SHORT_ANSWERS = [["-m", "tag2box", "--help"], ["-m", "tag2box", "--version"], ["-c", ODD_COMMANDS, "brief"]]


@pytest.mark.parametrize("arguments", SHORT_ANSWERS, ids=lambda arguments: arguments[-1])
def test_short_answers_to_nobody_are_quiet_too(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    assert ended(arguments, writing) == (141, "")
    os.close(writing)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full, a file that is always full")
@pytest.mark.parametrize("arguments", SHORT_ANSWERS, ids=lambda arguments: arguments[-1])
def test_answers_that_find_no_room_are_explained(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        code, complained = ended(arguments, full.fileno())
    assert code == 2
    assert complained.startswith("tag2box: A file cannot be written: No space left on device.\n  expected: ")
    assert "Exception ignored" not in complained


@pytest.mark.parametrize(
    ("number", "remedy"),
    [(errno.ENOSPC, "make room"), (errno.EROFS, "give another folder"), (errno.EACCES, "give another folder")],
)
def test_what_disks_do_to_anybody_is_explained(number: int, remedy: str) -> None:
    with odd_command("troubled", str(number)) as process:
        _, complained = process.communicate(timeout=30)
    assert process.returncode == 2
    assert complained.startswith(f"tag2box: out/boxes.json cannot be written: {os.strerror(number)}.\n  expected: ")
    assert f"what to do: {remedy}" in complained


def test_what_disks_do_not_do_to_anybody_is_a_bug() -> None:
    with odd_command("troubled", str(errno.EBADF)) as process:
        process.communicate(timeout=30)
    assert process.returncode == 1


def test_an_output_folder_that_is_a_file_is_exit_code_2(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run("demo", "-o", tmp_path / "file")
    assert done.returncode == 2
    assert done.stderr.startswith(f"tag2box: {tmp_path / 'file'} cannot be written: File exists.")


def test_a_bug_is_exit_code_1_with_its_traceback_below_a_request_to_report_it() -> None:
    with odd_command("buggy") as process:
        said, complained = process.communicate(timeout=30)
    assert (process.returncode, said) == (1, "")
    assert complained.startswith("tag2box: this is a bug of ours. Please report it")
    assert f"tag2box {tag2box.__version__}, Python 3." in complained
    assert complained.endswith("ZeroDivisionError: a bug\n")


def test_signs_that_cannot_be_printed_end_nothing() -> None:
    with odd_command("odd", PYTHONIOENCODING="ascii") as process:
        said, complained = process.communicate(timeout=30)
    assert (process.returncode, said, complained) == (0, "a\\udcff \\u2713\n", "")


def test_commands_without_exceptions_end_in_0(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        assert endings.exit_code_of(lambda: None) == 0
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr() == ("", "")


def on_a_terminal(*arguments: str, **environment: str) -> str:
    """What a command prints to a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "tag2box", *arguments]
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, env=PLAIN_ENVIRONMENT | environment)
    os.close(theirs)
    said = b""
    try:
        while piece := os.read(ours, 65536):
            said += piece
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(ours)
    assert process.wait(timeout=30) == 0
    return said.decode()


def test_colours_are_for_terminals_that_want_them() -> None:
    assert COLOUR.search(on_a_terminal("--help", TERM="xterm-256color"))
    assert not COLOUR.search(on_a_terminal("--help", TERM="xterm-256color", NO_COLOR="1"))
    assert "\x1b" not in on_a_terminal("--help", TERM="dumb")
    assert "\x1b" not in run("--help").stdout


def test_the_version_is_told() -> None:
    assert run("--version").stdout == f"tag2box {tag2box.__version__}\n"


def test_the_help_shows_every_command_in_its_panel() -> None:
    shown = run("--help").stdout
    places = [shown.index(f"─ {panel} ─") for panel in PANELS]
    assert places == sorted(places)
    for commands, begin, end in zip(PANELS.values(), places, [*places[1:], None], strict=True):
        assert re.findall(r"^│ (\w+)", shown[begin:end], flags=re.MULTILINE) == list(commands)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_completion(shell: str) -> None:
    by_hand = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    command = [str(Path(sys.executable).with_name("tag2box")), "--show-completion", shell]
    done = subprocess.run(command, capture_output=True, text=True, env=PLAIN_ENVIRONMENT | by_hand, check=False)
    assert done.returncode == 0, done.stderr
    assert "_TAG2BOX_COMPLETE" in done.stdout


def test_commands_are_completed() -> None:
    asked = {"_TAG2BOX_COMPLETE": "complete_bash", "COMP_WORDS": "tag2box do", "COMP_CWORD": "1"}
    command = [str(Path(sys.executable).with_name("tag2box"))]
    done = subprocess.run(command, capture_output=True, text=True, env=PLAIN_ENVIRONMENT | asked, check=False)
    assert done.stdout.split() == ["doctor"], done.stderr

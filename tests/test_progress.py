"""One kind of listener for all work that takes long."""

from __future__ import annotations

import ast
from pathlib import Path

import tag2box
from tag2box.progress import Report, silent

SOURCE = Path(tag2box.__file__).parent
KIND = "Callable[[int, dict[str, float]], None]"


def test_a_silent_listener_is_a_listener() -> None:
    listener: Report = silent
    listener(1, {"loss": 0.5})


def test_the_kind_is_written_out_in_one_place_only() -> None:
    written = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Subscript) and ast.unparse(node) == KIND
    }
    assert written == {"progress.py"}

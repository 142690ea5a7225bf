"""The losses of a run: one JSON line a step, cut back to the checkpoint when a run goes on."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Any, Self, final

from tag2box.files import replacing

JOURNAL_NAME = "losses.jsonl"


@final
class Journal:
    """Appends to the losses of a run; use it in a ``with`` block."""

    def __init__(self, folder: Path, done: int, *, writes: bool) -> None:
        """Open the journal for the step after ``done`` steps; what was written beyond is dropped."""
        self._file = None
        if writes:
            path = folder / JOURNAL_NAME
            kept = [line for line in read_journal(path) if line["step"] < done]
            with replacing(path) as temporary:
                temporary.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
            self._file = path.open("a", encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, step: int, losses: dict[str, float], seconds: float) -> None:
        """Add the losses of one step."""
        if self._file is not None:
            rounded = {name: round(value, 6) for name, value in losses.items()}
            self._file.write(json.dumps({"step": step, "seconds": round(seconds, 2)} | rounded) + "\n")
            self._file.flush()


def read_journal(path: Path) -> list[dict[str, Any]]:
    """The lines of a journal; a last line that was cut off is left out."""
    if not path.exists():
        return []
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            lines.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return lines

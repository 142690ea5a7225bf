"""Where commands print to."""

from __future__ import annotations

from rich.console import Console


def plain_console(*, stderr: bool = False) -> Console:
    """Prints words as they are: a name with [brackets] or :colons: in it is still that name."""
    return Console(highlight=False, markup=False, emoji=False, stderr=stderr)

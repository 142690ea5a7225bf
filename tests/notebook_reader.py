"""Runs the cells of a notebook as a notebook does, without one: python notebook_reader.py FILE.

Cells share their names. The last value of a cell is asked for what it would be shown as; anything raised ends it all.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

WAYS = {"_repr_html_": "table", "_repr_png_": "picture", "__repr__": "text"}
"""How values say what they look like, the best first."""


def run_cell(source: str, name: str, names: dict[str, Any]) -> object:
    """The value of a cell's last line; None if that is no expression."""
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), names)
    return eval(compile(ast.Expression(last.value), name, "eval"), names) if isinstance(last, ast.Expr) else None


def show(value: object) -> str:
    """What a notebook would show a value as."""
    way = next(way for way in WAYS if hasattr(value, way))
    if not getattr(value, way)():
        raise SystemExit(f"a {type(value).__name__} shows nothing by {way}")
    return WAYS[way]


def main(path: Path) -> None:
    """Run all cells in their order."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            value = run_cell("".join(cell["source"]), f"cell {cell['id']}", names)
            if value is not None:
                sys.stdout.write(f"shown as {show(value)}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

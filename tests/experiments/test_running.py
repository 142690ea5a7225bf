"""Workers do not outlive the process that started them, and results say which code they are of."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

import pytest

from tag2box.experiments.bench.running import code_that_runs

SCRIPT = """
import os, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from tag2box.experiments.bench.running import end_with_parent

if __name__ == "__main__":
    with ProcessPoolExecutor(1, get_context("spawn"), initializer=end_with_parent) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        time.sleep(60)
"""


def is_running(process: int) -> bool:
    """It may end at any moment, also between two lines of this."""
    stat = Path(f"/proc/{process}/stat")
    try:
        os.kill(process, 0)
        return not (stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] == "Z")  # dead, but nobody asked
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_a_worker_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(SCRIPT)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        assert is_running(worker)
        parent.kill()
    end = time.monotonic() + 30
    while is_running(worker) and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_running(worker)


needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
NOT_OURS = {"version": metadata.version("tag2box")}


def repository(folder: Path, project: str, *, keeps_package: bool) -> Path:
    """A repository of a project with a package in it, and the package."""
    package = folder / "lib" / "tag2box"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (folder / "pyproject.toml").write_text(f'[project]\nname = "{project}"\n')
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    kept = ["."] if keeps_package else ["pyproject.toml"]
    for asked in (["init", "-q"], ["add", *kept], [*who, "commit", "-q", "-m", "first"]):
        subprocess.run(["git", "-C", str(folder), *asked], check=True)
    return package


@needs_git
def test_the_commit_is_that_of_our_own_repository(tmp_path: Path) -> None:
    package = repository(tmp_path, "tag2box", keeps_package=True)
    asked = ["git", "-C", str(tmp_path), "rev-parse", "HEAD"]
    commit = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert code_that_runs(package) == {"commit": commit[:12]}


@needs_git
@pytest.mark.parametrize(("project", "keeps_package"), [("other", False), ("other", True), ("tag2box", False)])
def test_a_package_that_is_only_installed_in_a_repository_is_not_of_its_commit(
    tmp_path: Path, project: str, keeps_package: bool
) -> None:
    """It may be another project's, or an environment inside our own."""
    package = repository(tmp_path, project, keeps_package=keeps_package)
    assert code_that_runs(package) == NOT_OURS


def test_without_git_the_version_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert code_that_runs(tmp_path) == NOT_OURS
    monkeypatch.setenv("PATH", str(tmp_path))
    assert code_that_runs() == NOT_OURS

"""Workers do not outlive the process that started them, and results say which code they are of."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tag2box.data import Dataset, DatasetImage, EpisodePool
from tag2box.evaluation import Matches, Verdict, ap_area
from tag2box.experiments.bench.results import Row
from tag2box.experiments.bench.running import MOST_NEGATIVES, class_episodes, code_that_runs, draw_episodes, result_of
from tag2box.experiments.bench.specification import AGNOSTIC, QUERY, SUPPORT
from tag2box.experiments.bench.tasks import Trial
from tag2box.types import Truth

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


tagged = st.dictionaries(st.integers(0, 99).map(str), st.frozensets(st.sampled_from("abc"), min_size=1), min_size=1)


@given(tagged, st.integers(0, 9))
def test_with_every_image_a_class_has_one_task_of_all_it_shows_and_as_many_others(
    tags: dict[str, frozenset[str]], seed: int
) -> None:
    episodes = class_episodes(EpisodePool.build(tags), seed)
    assert [episode.classes for episode in episodes] == [(label,) for label in sorted(set().union(*tags.values()))]
    for index, episode in enumerate(episodes):
        (label,) = episode.classes
        without = {image for image, labels in tags.items() if label not in labels}
        assert episode.positives(label) == tuple(sorted(set(tags) - without))
        assert set(episode.negatives) <= without
        assert len(set(episode.negatives)) == len(episode.negatives) == min(len(episode.support), len(without))
        assert (episode.index, episode.queries) == (index, ())
    assert episodes == class_episodes(EpisodePool.build(dict(reversed(tags.items()))), seed)


def test_a_class_with_very_many_images_has_no_more_negatives_than_the_limit() -> None:
    many = {str(number): frozenset({"cat" if number < 300 else "dog"}) for number in range(600)}
    cats, dogs = class_episodes(EpisodePool.build(many), 0)
    assert len(cats.support) == len(dogs.support) == 300
    assert len(cats.negatives) == len(dogs.negatives) == MOST_NEGATIVES


def test_tasks_of_a_row_depend_on_its_cell_and_seed_and_on_no_method() -> None:
    boxes = [[0, 0, 5, 5]]
    kinds = [label for label in "abc" for _ in range(6)] + ["rare"] * 4
    images = [DatasetImage(Path("x"), 9, 9, Truth.plain(str(n), boxes, [kind])) for n, kind in enumerate(kinds)]
    dataset = Dataset(("a", "b", "c", "rare"), tuple(images))
    row = Row("voc07", "vmf-mil", 1, 4, 20, 0, "by images", "VOC", (("kappa", 15.0),), "an extractor")
    episodes = draw_episodes(dataset, row)
    other = Row("voc07", "mi-svm", 1, 4, 20, 0, "by images", "COCO", (), "another", "boxes", "base")
    assert draw_episodes(dataset, other) == episodes
    assert len(episodes) == 20
    assert {episode.classes[0] for episode in episodes} == set("abc")  # four support images and a query are too many
    assert {(len(episode.support), len(episode.negatives)) for episode in episodes} == {(4, 4)}
    several = Row("voc07", "vmf-mil", 2, 4, 20, 0, "by images", "VOC", (), "an extractor")
    assert {len(episode.negatives) for episode in draw_episodes(dataset, several)} == {0}
    every = Row("voc07", "vmf-mil", 1, 4, 20, 0, "every image", "VOC", (), "an extractor")
    assert [len(episode.support) for episode in draw_episodes(dataset, every)] == [6, 6, 6, 4]


def test_a_class_without_queries_or_objects_has_no_number_of_its_own() -> None:
    yes, no = np.array([True]), np.array([False])
    found, nothing = Matches(np.array([0.9]), yes, no, 1), Matches(np.zeros(0), yes[:0], no[:0], 0)
    trials = [
        Trial(0, "cat", (True, False), (Verdict.right,), found),
        Trial(1, "cat", (True, True), (Verdict.part,), found),
        Trial(1, "dog", (False,), (), nothing),
    ]
    result = result_of(trials, 2, ap_area, 1.26)
    assert result.by_class == {
        "cat": {QUERY: 0.5, "AP": 1.0, "queries": 2},
        "dog": {QUERY: None, "AP": None, "queries": 0},
    }
    assert (result.labels, result.tasks, result.seconds) == (("cat", "cat", "dog"), (0, 1, 1), 1.3)
    assert result.support == ((True, False), (True, True), (False,))
    assert result.figures[QUERY].value == 0.5
    assert result.figures[SUPPORT].value == pytest.approx((3 / 4 + 0) / 2)
    assert result.figures[AGNOSTIC].value == pytest.approx(3 / 5)

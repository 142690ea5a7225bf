"""A training run on disk keeps what it began with, and says so when it is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from tag2box.errors import TrainingError
from tag2box.progress import silent
from tag2box.training.detector.examples import Examples
from tag2box.training.detector.loop import train_detector
from tag2box.training.detector.run import (
    CHECKPOINT_NAME,
    JOURNAL_NAME,
    TRAINING_NAME,
    Journal,
    begin_training,
    read_journal,
)
from tiny_training import tiny_recipe


def test_what_a_run_began_with_stays_written(tmp_path: Path, examples: Examples) -> None:
    """The message of a refusal sends the reader to the recipe that stands in the folder."""
    begin_training(tmp_path, tiny_recipe(steps=2), examples)
    began = (tmp_path / TRAINING_NAME).read_text()
    train_detector(tmp_path, tiny_recipe(steps=2), examples, silent)
    begin_training(tmp_path, tiny_recipe(steps=7), examples)
    assert (tmp_path / TRAINING_NAME).read_text() == began


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.999])
def test_a_truncated_checkpoint_is_refused(tmp_path: Path, examples: Examples, share: float) -> None:
    recipe = tiny_recipe(steps=1)
    train_detector(tmp_path, recipe, examples, silent)
    checkpoint = tmp_path / CHECKPOINT_NAME
    content = checkpoint.read_bytes()
    checkpoint.write_bytes(content[: int(share * len(content))])
    with pytest.raises(TrainingError, match=rf"{CHECKPOINT_NAME} cannot be read"):
        train_detector(tmp_path, recipe, examples, silent)


def test_a_journal_is_cut_back_to_the_checkpoint(tmp_path: Path) -> None:
    with Journal(tmp_path, 0, writes=True) as journal:
        for step in range(4):
            journal.write(step, {"total": step / 3}, 0.123)
    with (tmp_path / JOURNAL_NAME).open("a") as file:
        file.write('{"step": 4, "tot')
    assert [line["step"] for line in read_journal(tmp_path / JOURNAL_NAME)] == [0, 1, 2, 3]
    with Journal(tmp_path, 2, writes=True) as journal:
        journal.write(2, {"total": 9.0}, 0.0)
    assert [(line["step"], line["total"]) for line in read_journal(tmp_path / JOURNAL_NAME)] == [
        (0, 0.0),
        (1, 0.333333),
        (2, 9.0),
    ]
    with Journal(tmp_path, 0, writes=False) as journal:
        journal.write(0, {"total": 1.0}, 0.0)
    assert len(read_journal(tmp_path / JOURNAL_NAME)) == 3

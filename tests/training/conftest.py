"""What all tests of training share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tag2box.training.detector.examples import Examples
from tiny_training import read_examples, write_photos


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Sums in one order, so that equal means equal to the last bit."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def boxes_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_photos(tmp_path_factory.mktemp("photos"))


@pytest.fixture(scope="session")
def examples(boxes_file: Path) -> Examples:
    return read_examples(boxes_file)

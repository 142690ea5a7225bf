"""Workers do not outlive the process that started them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

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

"""The machine, the folders that are written to, the terminal; and the extra ``train``.

Torch and torchvision are needed by training alone; nothing here imports them.
"""

from __future__ import annotations

import codecs
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tag2box.product.doctor.abilities import Try, attempt
from tag2box.product.doctor.findings import Finding, note, ok, problem
from tag2box.product.doctor.installation import AGAIN, Requirement, installed, required, shortcomings, with_versions
from tag2box.store import memory_bytes

GIBIBYTE = 1024**3
LITTLE_MEMORY = GIBIBYTE
LITTLE_SPACE = GIBIBYTE

EXTRA = "train"
INSTALL = "only tag2box train needs it: pip install 'tag2box[train]'"
INSTALL_AGAIN = "only tag2box train needs it: pip install --force-reinstall 'tag2box[train]'"
LOAD_TORCH = "import torch; print(torch.__version__, 'cuda' if torch.version.cuda else 'cpu')"
LOAD_TORCHVISION = "import torchvision; print(torchvision.__version__)"
NO_OPERATORS = "operator torchvision::"
"""In torchvision's complaint when its compiled operators were built for another torch."""


def check_machine() -> Finding:
    """What this machine has to work with."""
    return machine_finding(os.cpu_count() or 1, memory_bytes())


def machine_finding(cores: int, memory: int | None) -> Finding:
    """How many cores there are to work with, and how much memory, if that can be told."""
    words = f"{cores} {'core' if cores == 1 else 'cores'}"
    if memory is None:
        return ok("machine", words)
    words = f"{words}, {memory / GIBIBYTE:.1f} GiB of memory"
    if memory < LITTLE_MEMORY:
        return note("machine", words, "if tag2box is killed without a word, run it where there is more memory.")
    return ok("machine", words)


def folder_finding(name: str, folder: Path, free: int | None = None) -> Finding:
    """Whether a folder can be written to, and how much space its disk has."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"tag2box")
    except OSError as error:
        remedy = "work in a folder that you may write to, on a disk with space."
        return problem(name, f"{folder} cannot be written to: {error.strerror}.", remedy)
    space = shutil.disk_usage(folder).free if free is None else free
    words = f"{folder}, {space / GIBIBYTE:.1f} GiB free"
    return ok(name, words) if space >= LITTLE_SPACE else note(name, words, "make room before a long run.")


def check_terminal() -> Finding:
    """Whether every sign can be printed here."""
    return terminal_finding(sys.stdout.encoding, sys.stdout.isatty())


def terminal_finding(encoding: str, is_terminal: bool) -> Finding:
    """Whether every sign can be printed."""
    words = f"{encoding}, {'a terminal' if is_terminal else 'not a terminal: plain lines'}"
    if codecs.lookup(encoding).name == "utf-8":
        return ok("terminal", words)
    return note("terminal", words, "set PYTHONUTF8=1, else some signs are printed as codes.")


def check_extra() -> Finding:
    """Whether training has what it needs here."""
    return extra_finding(wanted := required(EXTRA), installed(one.name for one in wanted))


def extra_finding(wanted: Sequence[Requirement], versions: Mapping[str, str]) -> Finding:
    """Whether training has what it needs, in the versions that are pinned."""
    if not wanted:
        return note("train", "the package was installed before it had this extra.", AGAIN)
    if wrong := shortcomings(wanted, versions):
        return note("train", f"{', '.join(wrong)}.", INSTALL)
    return ok("train", with_versions(wanted, versions))


def torch_finding(version: str | None, try_code: Try = attempt) -> Finding | None:
    """Whether torch loads, and which build it is; None if it is not installed."""
    if version is None:
        return None
    tried = try_code(LOAD_TORCH)
    if not tried.worked:
        return problem("torch", f"{version} does not load: {tried.said}", INSTALL_AGAIN)
    loaded, build = tried.said.split()
    if build == "cuda":
        return note("torch", f"{loaded}, a CUDA build: it works, but the CPU build is gigabytes smaller.")
    return ok("torch", f"{loaded}, a CPU build")


def torchvision_finding(version: str | None, try_code: Try = attempt) -> Finding | None:
    """Whether torchvision loads, and if not, whether that matters; None if it is not installed."""
    if version is None:
        return None
    tried = try_code(LOAD_TORCHVISION)
    if tried.worked:
        return ok("torchvision", f"{version} loads")
    if NO_OPERATORS in tried.said:
        words = (
            f"{version}: its compiled operators are built for CUDA and do not load beside a CPU torch ({tried.said})."
        )
        return note("torchvision", words, "nothing: tag2box works around it. Other programs that import it here fail.")
    return problem("torchvision", f"{version} does not load: {tried.said}", INSTALL_AGAIN)

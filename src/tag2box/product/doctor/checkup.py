"""All checks, and what they are told about this place."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path

from tag2box.product.doctor.abilities import model_finding, pictures_finding, pillow_reads, runtime_finding
from tag2box.product.doctor.findings import Check, Finding, finding_of
from tag2box.product.doctor.installation import dependencies_finding, package_finding, python_finding
from tag2box.product.doctor.requirements import (
    PACKAGE,
    installed,
    installed_folder,
    installed_version,
    required,
    required_python,
)
from tag2box.product.doctor.surroundings import folder_finding, machine_finding, memory_bytes, terminal_finding
from tag2box.product.doctor.training import EXTRA, extra_finding, torch_finding, torchvision_finding


def examine() -> Iterator[Finding]:
    """Findings one by one, as they are made; nothing that goes wrong in a check ends it."""
    for name, check in CHECKS.items():
        finding = finding_of(name, check)
        if finding is not None:
            yield finding


def _python() -> Finding:
    return python_finding(platform.python_version(), required_python())


def _package() -> Finding:
    version = installed_version(PACKAGE)
    with as_file(files(PACKAGE)) as running:
        return package_finding(version, running, installed_folder() if version else None)


def _dependencies() -> Finding:
    return dependencies_finding(wanted := required(), installed(one.name for one in wanted))


def _model() -> Finding:
    from tag2box.extract import model_folder

    return model_finding(model_folder(None))


def _machine() -> Finding:
    return machine_finding(os.cpu_count() or 1, memory_bytes())


def _terminal() -> Finding:
    return terminal_finding(sys.stdout.encoding, sys.stdout.isatty())


def _extra() -> Finding:
    return extra_finding(wanted := required(EXTRA), installed(one.name for one in wanted))


CHECKS: dict[str, Check] = {
    "python": _python,
    "tag2box": _package,
    "dependencies": _dependencies,
    "onnxruntime": runtime_finding,
    "model": _model,
    "pictures": lambda: pictures_finding(pillow_reads),
    "machine": _machine,
    "folder": lambda: folder_finding("folder", Path.cwd()),
    "temporary": lambda: folder_finding("temporary", Path(tempfile.gettempdir())),
    "terminal": _terminal,
    "train": _extra,
    "torch": lambda: torch_finding(installed_version("torch")),
    "torchvision": lambda: torchvision_finding(installed_version("torchvision")),
}

"""What is installed, missing or wrong: all checks behind ``tag2box doctor``, in their order."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tag2box.product.doctor.abilities import check_model, check_pictures, check_products, runtime_finding
from tag2box.product.doctor.findings import Check, Finding, State, finding_of
from tag2box.product.doctor.installation import (
    check_dependencies,
    check_package,
    check_python,
    installed_version,
)
from tag2box.product.doctor.surroundings import (
    check_extra,
    check_machine,
    check_terminal,
    folder_finding,
    torch_finding,
    torchvision_finding,
)

__all__ = ["CHECKS", "Finding", "State", "examine"]

CHECKS: dict[str, Check] = {
    "python": check_python,
    "tag2box": check_package,
    "dependencies": check_dependencies,
    "onnxruntime": runtime_finding,
    "model": check_model,
    "products": check_products,
    "pictures": check_pictures,
    "machine": check_machine,
    "folder": lambda: folder_finding("folder", Path.cwd()),
    "temporary": lambda: folder_finding("temporary", Path(tempfile.gettempdir())),
    "terminal": check_terminal,
    "train": check_extra,
    "torch": lambda: torch_finding(installed_version("torch")),
    "torchvision": lambda: torchvision_finding(installed_version("torchvision")),
}


def examine() -> Iterator[Finding]:
    """Findings one by one, as they are made; nothing that goes wrong in a check ends it."""
    for name, check in CHECKS.items():
        finding = finding_of(name, check)
        if finding is not None:
            yield finding

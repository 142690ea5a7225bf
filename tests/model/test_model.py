"""One model: the product and the benchmark make their methods from it in one place."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from samples import random_bag, some_knowledge
from tag2box.errors import ModelError, SpecificationError
from tag2box.extract import read_card, shipped_model
from tag2box.methods.calibration import CALIBRATION_NAME
from tag2box.methods.detectors import LikenessLearner
from tag2box.methods.lineup import LINEUP
from tag2box.methods.localizers import OddsBackground, SceneMil
from tag2box.model import (
    DETECTOR,
    KNOWLEDGE_NAME,
    LOCALIZER,
    SETTINGS_NAME,
    Model,
    Settings,
    load_settings,
    save_knowledge,
    save_settings,
)

CHOSEN = {
    "axes": 20.0,
    "objectness_weight": 3.0,
    "commonness_weight": 0.5,
    "sharedness_weight": 1.5,
    "rivalry_weight": 2.0,
}
HEAD = {"sharpness": 6.0, "example_share": 0.5}


@pytest.fixture
def folder(tiny_model: Path, tmp_path: Path) -> Path:
    """A whole model with random weights."""
    folder = Path(shutil.copytree(tiny_model, tmp_path / "model"))
    card = read_card(folder)
    save_knowledge(folder / KNOWLEDGE_NAME, some_knowledge(card.dimension, card.fingerprint))
    save_settings(folder / SETTINGS_NAME, Settings({LOCALIZER: CHOSEN, DETECTOR: HEAD}))
    shutil.copy(shipped_model() / CALIBRATION_NAME, folder)
    return folder


def test_a_model_is_one_folder(folder: Path) -> None:
    model = Model.open(folder, threads=1)
    assert model.fingerprint == model.extractor.fingerprint == model.knowledge.fingerprint
    localizer = model.learner.localizer
    assert isinstance(localizer, SceneMil)
    assert localizer.vmf.kappa == 20.0
    assert (localizer.commonness_weight, localizer.sharedness_weight, localizer.rivalry_weight) == (0.5, 1.5, 2.0)
    assert (model.learner.sharpness, model.learner.example_share) == (6.0, 0.5)


@pytest.mark.parametrize("name", [KNOWLEDGE_NAME, CALIBRATION_NAME])
def test_a_file_that_is_missing_or_foreign_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelError, match=name):
        Model.open(folder)
    (folder / name).write_text("{}")
    with pytest.raises(ModelError, match=name):
        Model.open(folder)


def test_what_another_extractor_saw_is_no_knowledge_of_this_one(folder: Path) -> None:
    save_knowledge(folder / KNOWLEDGE_NAME, some_knowledge(read_card(folder).dimension, "x"))
    with pytest.raises(ModelError, match=r"was fitted on features of x\.[\s\S]*tag2box model make"):
        Model.open(folder)


def test_settings_that_were_not_chosen_are_asked_for(folder: Path) -> None:
    save_settings(folder / SETTINGS_NAME, Settings({LOCALIZER: CHOSEN}))
    model = Model.open(folder)
    assert model.method(LOCALIZER) is not None
    with pytest.raises(SpecificationError, match=rf"settings\.json has no settings for {DETECTOR}"):
        _ = model.learner


def test_localizer_and_head_count_objectness_alike_and_work_around_the_same_middle(folder: Path) -> None:
    model = Model.open(folder)
    bag = random_bag(np.random.default_rng(0), d=model.card.dimension)
    localizer = model.learner.localizer
    assert isinstance(localizer, SceneMil)
    for background in (localizer.vmf.background, model.learner.prior):
        np.testing.assert_allclose(background.log_score(bag), 3.0 * OddsBackground().log_score(bag))
    assert localizer.vmf.space is model.knowledge.kin_space
    for center in (localizer.center, model.knowledge.kin_space.center):
        np.testing.assert_array_equal(center, model.knowledge.center)


def test_the_benchmark_measures_what_users_get() -> None:
    """The lineup's method, built as a row of a table builds it, gives the very numbers of the product's learner."""
    model = Model.open()
    measured = LINEUP[DETECTOR].build(model.knowledge, dict(sorted(model.settings.of(DETECTOR).items())))
    assert isinstance(measured, LikenessLearner)
    rng = np.random.default_rng(0)
    bags = [random_bag(rng, 12, model.card.dimension, str(number)) for number in range(5)]
    theirs, ours = (one.learn(bags[:4], (), np.random.default_rng(0)) for one in (measured, model.learner))
    np.testing.assert_array_equal(theirs.solution.foreground.theta, ours.solution.foreground.theta)
    np.testing.assert_array_equal(theirs.score(bags[4]), ours.score(bags[4]))
    rows = [bag.features[row] for bag, row in zip(bags, ours.localization.rows.tolist(), strict=False)]
    product = ours.learner.head_of_kept(["a", "b"], np.stack([ours.direction] * 2), [np.stack(rows)] * 2)
    np.testing.assert_allclose(product.score(bags[4])[:, 1], theirs.score(bags[4]), rtol=1e-5)


def test_settings_come_back_with_how_they_were_chosen(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    save_settings(path, Settings({LOCALIZER: CHOSEN}).with_choice(DETECTOR, HEAD, {"tasks": 7}))
    again = load_settings(path)
    assert again.of(DETECTOR) == CHOSEN | HEAD
    assert again.of(LOCALIZER) == again.beside(DETECTOR) == CHOSEN
    assert again.chosen_how == {DETECTOR: {"tasks": 7}}
    assert again.all_of([LOCALIZER]) == {LOCALIZER: CHOSEN}


@pytest.mark.parametrize("content", ["", "[]", "7", '{"format": "another"}', '{"format": "tag2box-settings-1"}'])
def test_a_file_that_holds_no_settings_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "settings.json").write_text(content)
    with pytest.raises(SpecificationError, match=r"settings\.json cannot be read as settings"):
        load_settings(tmp_path / "settings.json")


def test_settings_are_added_method_by_method(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    first, second = ({"kappa": kappa, "background_weight": 3.0, "steps": 20.0} for kappa in (15.0, 16.0))
    settings = Settings({}).with_choice("vmf-mil", first, {"tasks": 250})
    settings = settings.with_choice("mi-svm", {"gamma": 0.5, "cost": 1.0}, {"tasks": 100})
    save_settings(path, settings.with_choice("vmf-mil", second, {"tasks": 300}))
    chosen = load_settings(path).all_of(["vmf-mil", "mi-svm"])
    assert chosen == {"vmf-mil": second, "mi-svm": {"gamma": 0.5, "cost": 1.0}}
    assert json.loads(path.read_text())["chosen"] == {"vmf-mil": {"tasks": 300}, "mi-svm": {"tasks": 100}}
    assert settings.of("vmf-mil") == first  # a value, which nobody changes


def test_settings_of_another_method_are_found() -> None:
    values, head = {"kappa": 15.0, "background_weight": 3.0, "steps": 20.0}, {"tau": 10.0, "balanced": 1.0}
    settings = Settings({"vmf-mil": values}, source="this file")
    assert settings.of("prototypical") == settings.of("vmf-mil") == values
    assert settings.of("whole-image") == {}
    with pytest.raises(SpecificationError, match="this file has no settings for vmf-mil-detector"):
        settings.of("vmf-mil-detector")
    assert settings.beside("vmf-mil-detector") == values
    assert settings.beside("mi-svm") == {}
    assert settings.with_choice("vmf-mil-detector", head, {}).of("vmf-mil-detector") == values | head
    with pytest.raises(SpecificationError, match="no settings for mi-svm"):
        settings.of("mi-svm")

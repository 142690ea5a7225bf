"""What rivals have learned, on disk; and that it is learned once, by the recipe that stands."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from planted_bench import plant_bench
from samples import random_bags, some_knowledge, some_schooling
from tag2box.errors import ModelError
from tag2box.experiments.bench.schooling import (
    SCHOOLING_NAME,
    load_schooling,
    save_schooling,
    schooling_facts,
    schooling_hash,
)
from tag2box.experiments.bench.specification import Specification
from tag2box.methods.lineup import LINEUP
from tag2box.model import Settings, save_settings
from tag2box.progress import Report, silent
from tag2box.training.rivals import schooling
from tag2box.training.rivals.relations import RelationRecipe
from tag2box.training.rivals.silco import SilcoRecipe


def quietly(title: str, total: int) -> AbstractContextManager[Report]:
    return nullcontext(silent)


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    learned = some_schooling()
    save_schooling(tmp_path / SCHOOLING_NAME, learned, {"how": 1})
    again = load_schooling(tmp_path / SCHOOLING_NAME)
    assert schooling_hash(again) == schooling_hash(learned)
    assert schooling_facts(tmp_path / SCHOOLING_NAME) == {"how": 1}
    bag = random_bags(0, images=1)[0]
    first, second = (each.relations.project(bag).own for each in (learned, again))
    np.testing.assert_array_equal(first, second)
    other = replace(learned, relations=replace(learned.relations, bias=learned.relations.bias + 1))
    assert schooling_hash(other) != schooling_hash(learned)


def test_a_file_of_another_kind_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / SCHOOLING_NAME
    path.write_bytes(b"not tensors")
    with pytest.raises(ModelError, match=SCHOOLING_NAME):
        load_schooling(path)
    assert schooling_facts(path) == schooling_facts(tmp_path / "nowhere") == {}


def test_who_has_not_learned_says_so() -> None:
    with pytest.raises(ModelError, match="rivals have learned nothing"):
        LINEUP["greedy-tree"].build(replace(some_knowledge(), schooling=None), {})


def test_rivals_learn_once_and_again_by_another_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = plant_bench(tmp_path, images=6)
    monkeypatch.setattr(schooling, "RELATIONS", RelationRecipe(size=4, steps=3))
    monkeypatch.setattr(schooling, "SILCO", SilcoRecipe(size=4, grows=2, layers=2, heed=(3,), shots=2, steps=2))
    file = bench.folder / SCHOOLING_NAME
    bench.school_rivals(["vmf-mil", "mi-svm"], quietly)
    assert not file.exists()  # nobody of these has networks
    bench.school_rivals(["vmf-mil", "greedy-tree"], quietly)
    first, stamp = bench.schooling_hash, file.stat().st_mtime_ns
    bench.school_rivals(["greedy-tree"], quietly)
    assert file.stat().st_mtime_ns == stamp
    bench.fit_knowledge(quietly)
    assert bench.knowledge().schooled.relations.enter.shape == (64, 4)
    save_settings(
        tmp_path / "settings.json", Settings({"vmf-mil": {"kappa": 2.0, "background_weight": 1.0, "steps": 3.0}})
    )
    asked = Specification("t", "q?", "voc07", ("vmf-mil", "greedy-tree"))
    before = bench.rows(asked, tmp_path / "settings.json")
    monkeypatch.setattr(schooling, "RELATIONS", RelationRecipe(size=4, steps=4))
    bench.school_rivals(["greedy-tree"], quietly)
    assert bench.schooling_hash != first
    after = bench.rows(asked, tmp_path / "settings.json")
    assert [a.key == b.key for a, b in zip(before, after, strict=True)] == [True, False]  # results of rivals only

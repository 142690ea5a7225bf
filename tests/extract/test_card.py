"""A model's card: every setting that changes a bag is in its fingerprint, and it survives its file."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from tag2box.errors import ModelError
from tag2box.extract import BOX_GRAPH, CARD_NAME, PHOTO_GRAPH, Card, Objectness, ProposalRules, read_card, write_card
from tag2box.extract.card import REGIONS, add_metrics

HASHES = {PHOTO_GRAPH: "1" * 64, BOX_GRAPH: "2" * 64}
CARD = Card(320, 12, 4, HASHES, {"image_size": 320, "backbone": "lite0"}, {"classes": ["cat"]})


def test_every_rule_and_every_weight_changes_the_fingerprint() -> None:
    rules, objectness = ProposalRules(), Objectness()
    changed = [CARD]
    for entry in fields(ProposalRules):
        value: Any = (1.0,) if entry.name == "looks" else getattr(rules, entry.name) * 2
        changed.append(replace(CARD, rules=replace(rules, **{entry.name: value})))
    for weight in fields(Objectness):
        other = replace(objectness, **{weight.name: getattr(objectness, weight.name) + 0.25})
        changed.append(replace(CARD, objectness=other))
    changed += [replace(CARD, hashes=HASHES | {name: "3" * 64}) for name in HASHES]
    changed.append(replace(CARD, hashes=dict(zip(HASHES, reversed(HASHES.values()), strict=True))))  # exchanged
    changed += [replace(CARD, image_size=352), replace(CARD, fitted=True), replace(CARD, objectness_share=0.1)]
    changed.append(replace(CARD, core=True))
    fingerprints = [card.fingerprint for card in changed] + [CARD.fingerprint_of(REGIONS - 1)]
    assert len(set(fingerprints)) == len(fingerprints) == 1 + 6 + 5 + 2 + 1 + 4 + 1


def test_what_changes_no_bag_leaves_the_fingerprint() -> None:
    same = [
        replace(CARD, metrics={"voc07": {"CorLoc": 0.5}}),
        replace(CARD, trained_on={"classes": ["dog"], "photos": 7}),
        replace(CARD, recipe=CARD.recipe | {"steps": 9000}),
        replace(CARD, hashes=dict(reversed(HASHES.items()))),
        replace(CARD, image_size=352, recipe=CARD.recipe | {"image_size": 352}),  # as it learned: the weights say it
    ]
    assert {card.fingerprint for card in same} == {CARD.fingerprint}
    assert CARD.fingerprint == CARD.fingerprint_of(REGIONS)


def test_several_unusual_things_are_not_taken_for_one_another() -> None:
    sizes, counts = (320, 352, 384), (REGIONS, 20, 352)
    found = {replace(CARD, image_size=size).fingerprint_of(count) for size in sizes for count in counts}
    assert len(found) == 9


def test_a_fingerprint_begins_with_the_backbone() -> None:
    assert CARD.fingerprint.startswith("tag2box-lite0-")
    assert replace(CARD, recipe={"image_size": 320}).fingerprint == CARD.fingerprint.replace("lite0", "model")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (PHOTO_GRAPH, BOX_GRAPH):
        (tmp_path / name).write_text(f"the graph {name}")
    made = Card.of(tmp_path, 320, 12, 4, CARD.recipe, CARD.trained_on)
    unusual = replace(made, rules=ProposalRules(looks=(1.0, 1 / 3)), objectness=Objectness(0.1 + 0.2, -1e-17, 3.0))
    write_card(tmp_path / CARD_NAME, unusual)
    return tmp_path


def test_a_card_and_its_fingerprint_survive_the_file(folder: Path) -> None:
    card = read_card(folder)
    assert (card.rules.looks, card.objectness) == ((1.0, 1 / 3), Objectness(0.1 + 0.2, -1e-17, 3.0))
    write_card(folder / CARD_NAME, card)
    assert read_card(folder) == card
    assert read_card(folder).fingerprint == card.fingerprint
    assert card.dimension == 16


def test_new_figures_join_those_that_are_there_and_change_nothing_else(folder: Path) -> None:
    before = read_card(folder)
    add_metrics(folder, "recall", {"50": 0.5, "100": 0.6})
    add_metrics(folder, "corloc", {"voc07": 0.4})
    add_metrics(folder, "recall", {"100": 0.7, "300": 0.8})
    after = read_card(folder)
    assert after.metrics == {"recall": {"50": 0.5, "100": 0.7, "300": 0.8}, "corloc": {"voc07": 0.4}}
    assert replace(after, metrics={}) == before


LATER = ("fitted", "core", "objectness_share", "bits")


def test_a_card_from_before_says_nothing_of_what_came_later(folder: Path) -> None:
    before = read_card(folder)
    content = json.loads((folder / CARD_NAME).read_text())
    for name in LATER:
        del content[name]
    (folder / CARD_NAME).write_text(json.dumps(content))
    assert read_card(folder) == before
    assert (before.fitted, before.objectness_share, before.dimension) == (False, 0.0, 16)
    assert replace(before, objectness_share=0.2).dimension == 18


def test_a_recipe_says_what_else_a_feature_tells_of(folder: Path) -> None:
    told = CARD.recipe | {"core": True, "objectness_share": 0.2, "pooled": [4, 5]}
    card = Card.of(folder, 320, 12, 4, told, CARD.trained_on)
    assert (card.core, card.objectness_share, card.halvings) == (True, 0.2, (4, 5))
    assert (card.described, card.dimension) == (28, 30)
    without = replace(card, core=False)
    assert (without.halvings, without.described, without.dimension) == ((), 16, 18)


def test_cores_beside_projected_averages_are_refused(folder: Path) -> None:
    card = replace(read_card(folder), core=True)
    write_card(folder / CARD_NAME, replace(card, recipe=card.recipe | {"projected": 12}))
    with pytest.raises(ModelError, match="wants the cores of regions described"):
        read_card(folder)


@pytest.mark.parametrize("name", [field.name for field in fields(Card) if field.name not in LATER])
def test_a_card_without_one_of_its_parts_is_refused(folder: Path, name: str) -> None:
    content = json.loads((folder / CARD_NAME).read_text())
    del content[name]
    (folder / CARD_NAME).write_text(json.dumps(content))
    with pytest.raises(ModelError, match="holds no usable model"):
        read_card(folder)

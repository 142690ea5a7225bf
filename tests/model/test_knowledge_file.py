"""What a model knows survives the trip to disk, and nothing else is taken for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from samples import random_bags, some_knowledge
from tag2box.errors import InputError, ModelError
from tag2box.methods.lineup import LINEUP
from tag2box.methods.localizers import MixtureBackground, VmfBackground
from tag2box.methods.rivals import AppearanceObjectness
from tag2box.methods.spread import Spread
from tag2box.model import knowledge_hash, load_knowledge, save_knowledge
from tag2box.sphere import VmfMixture

POSITIVES, NEGATIVES = random_bags(0, images=4), random_bags(1, images=3)


def some_choice(name: str) -> dict[str, float]:
    method = LINEUP[name]
    inherited = some_choice(method.like) if method.like is not None else {}
    return inherited | {key: values[0] for key, values in method.grid.items()}


@pytest.mark.parametrize("name", [name for name, entry in LINEUP.items() if not entry.schooled])
def test_every_method_does_the_same_with_what_came_back(name: str, tmp_path: Path) -> None:
    known = some_knowledge()
    save_knowledge(tmp_path / "k.safetensors", known)
    again = load_knowledge(tmp_path / "k.safetensors")
    scores = [
        LINEUP[name].build(each, some_choice(name)).learn(POSITIVES, NEGATIVES, np.random.default_rng(0)).score(bag)
        for each in (known, again)
        for bag in NEGATIVES[:1]
    ]
    np.testing.assert_allclose(scores[1], scores[0], rtol=1e-5, atol=1e-5)  # of the spread seven digits are kept


def test_the_same_knowledge_has_the_same_hash(tmp_path: Path) -> None:
    """It says whether results were measured with what is known now."""
    path, known = tmp_path / "k.safetensors", some_knowledge()
    hashes = {knowledge_hash(known)}
    for _ in range(4):
        save_knowledge(path, known)
        known = load_knowledge(path)
        hashes.add(knowledge_hash(known))
    assert len(hashes) == 1
    assert known.center is not None
    others = [
        replace(known, center=2.0 * known.center),
        replace(known, fingerprint="another"),
        replace(known, spread=Spread(known.spread.mean, 2.0 * known.spread.covariance)),
        replace(known, objectness=AppearanceObjectness(known.objectness.weights, 0.7)),
    ]
    assert len({knowledge_hash(other) for other in others} | hashes) == 5


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("components", [1, 3])
def test_all_but_the_spread_comes_back_to_the_last_bit(tmp_path: Path, centered: bool, components: int) -> None:
    known = some_knowledge()
    if components > 1:
        known = replace(
            known, background=MixtureBackground(VmfMixture(np.full(3, 1 / 3), np.eye(5)[:3], np.arange(1.0, 4.0)))
        )
    if not centered:
        known = replace(known, center=None)
    save_knowledge(tmp_path / "k.safetensors", known)
    back = load_knowledge(tmp_path / "k.safetensors")
    assert isinstance(back.background, VmfBackground if components == 1 else MixtureBackground)
    assert (back.fingerprint, back.images, back.regions) == (known.fingerprint, known.images, known.regions)
    assert (back.center is None) != centered
    for name in ("background", "plain", "gaussian", "tukey"):
        here, there = (getattr(each, name).log_score(POSITIVES[0]) for each in (known, back))
        np.testing.assert_array_equal(here, there)
    np.testing.assert_array_equal(back.spread.covariance, known.spread.covariance.astype(np.float32))


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\0" * 100, b"\x02\x00\x00\x00\x00\x00\x00\x00{}"])
def test_a_file_that_holds_something_else_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "k.safetensors"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"k\.safetensors cannot be read as what a model knows"):
        load_knowledge(path)


def test_mutated_files_are_refused_or_read_but_never_crash(tmp_path: Path) -> None:
    path, rng = tmp_path / "k.safetensors", np.random.default_rng(3)
    save_knowledge(path, some_knowledge())
    sound = path.read_bytes()
    for _ in range(300):
        content = bytearray(sound)
        for place in rng.integers(0, len(sound), size=3):
            content[place] = int(rng.integers(256))
        path.write_bytes(content)
        try:
            load_knowledge(path)
        except InputError:
            continue


def test_a_folder_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be written"):
        save_knowledge(tmp_path / "no" / "k.safetensors", some_knowledge())

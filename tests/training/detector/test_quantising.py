"""Graphs that compute with bytes say nearly the same, and cards know of them."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from tag2box.cli import main
from tag2box.errors import TrainingError
from tag2box.extract import BOX_GRAPH, PHOTO_GRAPH, open_extractor, read_card, two_graphs
from tag2box.progress import silent
from tag2box.training.detector.quantising import Views, quantise_model
from tiny_training import write_photos


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return sorted(write_photos(tmp_path_factory.mktemp("photos")).parent.rglob("*.png"))


@pytest.fixture(scope="module")
def quantised(tiny_model: Path, photos: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("quantised") / "model"
    quantise_model(tiny_model, photos, folder, silent)
    return folder


def test_it_says_nearly_the_same(tiny_model: Path, quantised: Path, photos: list[Path]) -> None:
    before, after = open_extractor(tiny_model), open_extractor(quantised)
    for path in photos:
        for one, other in zip(before.see_file(path).looks, after.see_file(path).looks, strict=True):
            for name, values in (one.maps | {"quality": one.quality}).items():
                found = (other.maps | {"quality": other.quality})[name]
                assert np.corrcoef(values.ravel(), found.ravel())[0, 1] > 0.99, name
                assert not np.array_equal(values, found)


@pytest.mark.parametrize("multiplies", [True, False])
def test_where_bytes_would_overflow_floats_are_taken(
    quantised: Path, photos: list[Path], monkeypatch: pytest.MonkeyPatch, multiplies: bool
) -> None:
    """The numbers are rounded alike; what is left is how sums of them are rounded."""
    asked: list[tuple[str, str]] = []

    class Options(onnxruntime.SessionOptions):  # type: ignore[misc]  # a class without types
        def add_session_config_entry(self, key: str, value: str) -> None:
            asked.append((key, value))
            super().add_session_config_entry(key, value)

    maps = open_extractor(quantised).see_file(photos[0]).first.maps
    monkeypatch.setattr(onnxruntime, "SessionOptions", Options)
    monkeypatch.setattr(two_graphs, "multiplies_bytes", lambda: multiplies)
    for name, values in open_extractor(quantised).see_file(photos[0]).first.maps.items():
        assert np.corrcoef(values.ravel(), maps[name].ravel())[0, 1] > 0.999, name
    assert (("session.disable_quant_qdq", "1") in asked) is not multiplies


def test_weights_are_bytes_and_the_second_graph_is_the_same(tiny_model: Path, quantised: Path) -> None:
    def kinds(folder: Path) -> set[int]:
        large = [each for each in onnx.load(folder / PHOTO_GRAPH).graph.initializer if len(each.dims) == 4]
        return {each.data_type for each in large}

    assert kinds(tiny_model) == {onnx.TensorProto.FLOAT}
    assert kinds(quantised) == {onnx.TensorProto.INT8}
    assert (quantised / BOX_GRAPH).read_bytes() == (tiny_model / BOX_GRAPH).read_bytes()


def test_the_card_says_so_and_features_do_not_compare(tiny_model: Path, quantised: Path) -> None:
    before, after = read_card(tiny_model), read_card(quantised)
    assert (before.bits, after.bits) == (32, 8)
    assert before.fingerprint != after.fingerprint
    assert (before.rules, before.trained_on, before.recipe) == (after.rules, after.trained_on, after.recipe)


def test_every_look_of_every_photo_counts(tiny_model: Path, photos: list[Path]) -> None:
    extractor, done = open_extractor(tiny_model), list[int]()
    views = Views(extractor, photos[:2], lambda count, figures: done.append(count))
    sides = [given["pixels"].shape[1:3] for given in iter(views.get_next, None)]
    assert sides == [(side, side) for side in extractor.card.sides] * 2
    assert done == [1, 2]


def test_bytes_are_not_quantised_again(quantised: Path, photos: list[Path], tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="computes with bytes already"):
        quantise_model(quantised, photos, tmp_path / "again", silent)
    assert not (tmp_path / "again").exists()


def test_without_photos_or_over_itself_nothing_is_written(tiny_model: Path, photos: list[Path], tmp_path: Path) -> None:
    before = (tiny_model / PHOTO_GRAPH).read_bytes()
    with pytest.raises(TrainingError, match="no photo"):
        quantise_model(tiny_model, [], tmp_path / "none", silent)
    with pytest.raises(TrainingError, match="it would be overwritten"):
        quantise_model(tiny_model, photos, tiny_model, silent)
    assert not (tmp_path / "none").exists()
    assert (tiny_model / PHOTO_GRAPH).read_bytes() == before


def test_the_command(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = Path(shutil.copytree(tiny_model, tmp_path / "model"))
    card = model / "card.json"
    card.write_text(card.read_text().replace('"cat"', '"truck"').replace('"dog"', '"zebra"'))
    boxes = write_photos(tmp_path)
    command = ["tag2box", "model", "quantise", str(model), str(boxes), "-o", str(tmp_path / "fast")]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert not stopped.value.code
    assert f"Wrote the detector to {tmp_path / 'fast'}." in capsys.readouterr().out
    found = read_card(tmp_path / "fast")
    assert found.bits == 8
    assert found.objectness != read_card(model).objectness

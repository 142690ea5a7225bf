"""Training falls, goes on where it was, and stops with a reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, distributed, nn

from tag2box.errors import TrainingError
from tag2box.progress import Report, silent
from tag2box.training.detector import loop
from tag2box.training.detector.assembly import Detector
from tag2box.training.detector.examples import Examples
from tag2box.training.detector.export import export_model
from tag2box.training.detector.loop import drawn_rows, epoch_rows, train_detector
from tag2box.training.detector.recipe import Recipe
from tag2box.training.detector.run import JOURNAL_NAME, read_journal
from tag2box.training.detector.workers import Workers, device_named
from tiny_training import tiny_recipe

LOSSES = {"total", "first box", "first quality", "class", "correction", "quality"}


def stop_after(last: int) -> Report:
    def report(step: int, losses: dict[str, float]) -> None:
        if step == last:
            raise KeyboardInterrupt

    return report


def journal_of(folder: Path) -> list[dict[str, Any]]:
    """All but the clock."""
    return [
        {name: value for name, value in line.items() if name != "seconds"}
        for line in read_journal(folder / JOURNAL_NAME)
    ]


def weights_of(detector: Detector) -> dict[str, Tensor]:
    return detector.state_dict()


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("examples", [1, 5, 12])
def test_every_example_is_seen_once_an_epoch_by_any_number_of_workers(count: int, examples: int) -> None:
    recipe = tiny_recipe(batch=2, seed=4)
    stream = []
    for step in range(60 // (2 * count)):
        parts = [drawn_rows(np.arange(examples), recipe, Workers(rank, count), step) for rank in range(count)]
        assert [len(part) for part in parts] == [2] * count
        stream += np.stack(parts, axis=1).ravel().tolist()
    alone = [row for step in range(30) for row in drawn_rows(np.arange(examples), recipe, Workers(0, 1), step)]
    assert stream == alone
    epochs = [tuple(stream[begin : begin + examples]) for begin in range(0, 60, examples)]
    assert all(sorted(epoch) == list(range(examples)) for epoch in epochs)
    assert len(set(epochs)) > 1 or examples == 1


def test_photos_whose_objects_are_all_known_come_more_often(examples: Examples) -> None:
    half = tuple(replace(item, complete=place % 2 == 0) for place, item in enumerate(examples.items))
    rows = epoch_rows(Examples(examples.classes, half), tiny_recipe(complete_repeats=3))
    assert sorted(rows.tolist()) == [0, 0, 0, 1, 2, 2, 2, 3, 4, 4, 4, 5]
    np.testing.assert_array_equal(epoch_rows(examples, tiny_recipe()), np.arange(6))


def frozen_blocks(count: int) -> tuple[str, ...]:
    """How the names of the first blocks of lite0 begin."""
    names = ("stem", *(f"stages.{number}" for number in range(7)))
    return tuple(f"trained_backbone.backbone.{name}." for name in names[:count])


@pytest.mark.parametrize("learned_blocks", [0, 2, 8])
def test_losses_fall(tmp_path: Path, examples: Examples, learned_blocks: int) -> None:
    recipe = tiny_recipe(learned_blocks=learned_blocks, steps=18, learning_rate=5e-3)
    before = weights_of(Detector(recipe, 2))
    after = weights_of(train_detector(tmp_path, recipe, examples, silent))
    lines = journal_of(tmp_path)
    assert [line["step"] for line in lines] == list(range(18))
    assert set(lines[0]) == LOSSES | {"step"}
    totals = [line["total"] for line in lines]
    assert np.mean(totals[-6:]) < 0.8 * np.mean(totals[:3])
    assert {name.split(".")[0] for name in after} == {"heads"} | ({"trained_backbone"} if learned_blocks else set())
    fixed = {name for name in before if torch.equal(before[name], after[name])}
    frozen = {name for name in before if name.startswith(frozen_blocks(8 - learned_blocks))}
    assert {name for name in fixed if name.endswith(".weight")} == {name for name in frozen if name.endswith(".weight")}


@pytest.mark.parametrize(("learned_blocks", "last"), [(0, 2), (0, 6), (3, 5)])
def test_an_interrupted_run_goes_on_to_the_same_weights(
    tmp_path: Path, examples: Examples, learned_blocks: int, last: int
) -> None:
    recipe = tiny_recipe(learned_blocks=learned_blocks)
    whole = train_detector(_folder(tmp_path, "whole"), recipe, examples, silent)
    broken = _folder(tmp_path, "broken")
    with pytest.raises(KeyboardInterrupt):
        train_detector(broken, recipe, examples, stop_after(last))
    seen: list[int] = []
    resumed = train_detector(broken, recipe, examples, lambda step, losses: seen.append(step))
    assert seen == list(range(last // 3 * 3 + 1, 9))
    assert weights_of(whole).keys() == weights_of(resumed).keys()
    assert all(torch.equal(values, weights_of(resumed)[name]) for name, values in weights_of(whole).items())
    assert journal_of(broken) == journal_of(tmp_path / "whole")
    assert not resumed.training


def test_a_finished_run_has_nothing_left_to_do(tmp_path: Path, examples: Examples) -> None:
    recipe = tiny_recipe(steps=2)
    done = train_detector(tmp_path, recipe, examples, silent)
    again = train_detector(tmp_path, recipe, examples, stop_after(0))
    assert all(torch.equal(values, weights_of(again)[name]) for name, values in weights_of(done).items())
    assert len(journal_of(tmp_path)) == 2


def test_how_often_is_saved_may_change_but_nothing_else(tmp_path: Path, examples: Examples) -> None:
    train_detector(tmp_path, tiny_recipe(steps=2), examples, silent)
    train_detector(tmp_path, tiny_recipe(steps=2, checkpoint_every=1), examples, silent)
    for other in (tiny_recipe(steps=3), tiny_recipe(steps=2, seed=1), tiny_recipe(steps=2, embedding=16)):
        with pytest.raises(TrainingError, match="belongs to another run"):
            train_detector(tmp_path, other, examples, silent)
    fewer = Examples(examples.classes, examples.items[1:])
    with pytest.raises(TrainingError, match="belongs to another run"):
        train_detector(tmp_path, tiny_recipe(steps=2), fewer, silent)


def test_a_run_begins_with_a_model(tmp_path: Path, examples: Examples) -> None:
    """With next to no learning rate it ends there; and a run that began elsewhere is another one."""
    begin_with, recipe = tmp_path / "model", tiny_recipe(steps=1, learning_rate=1e-12, weight_decay=0.0)
    known = train_detector(_folder(tmp_path, "known"), tiny_recipe(steps=3), examples, silent)
    with torch.no_grad():  # an exporter leaves out what adds nothing
        known.heads.first.level_scale.copy_(torch.tensor([0.1, 0.2, 0.3, 0.4]))
    export_model(begin_with, known, tiny_recipe(), {"classes": list(examples.classes)})
    ended = weights_of(train_detector(_folder(tmp_path, "begun"), recipe, examples, silent, begin_with=begin_with))
    for name, values in weights_of(known).items():
        torch.testing.assert_close(ended[name], values, rtol=0, atol=1e-9)
    with pytest.raises(TrainingError, match="belongs to another run"):
        train_detector(tmp_path / "begun", recipe, examples, silent)


def test_a_loss_that_is_no_number_ends_the_run(
    tmp_path: Path, examples: Examples, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = loop.batch_losses

    def broken(*arguments: Any) -> dict[str, Tensor]:
        return losses(*arguments) | {"class": torch.tensor(float("nan"))}

    monkeypatch.setattr(loop, "batch_losses", broken)
    with pytest.raises(TrainingError, match="the loss of step 0 is not a number"):
        train_detector(tmp_path, tiny_recipe(), examples, silent)
    assert journal_of(tmp_path) == []


def test_a_learning_backbone_is_drawn_back_to_where_it_began(tmp_path: Path, examples: Examples) -> None:
    def way(pull: float) -> float:
        recipe = tiny_recipe(learned_blocks=2, backbone_learning_rate=1e-3, backbone_pull=pull, warm_up=0)
        began = Detector(recipe, 2).learned_backbone
        ended = train_detector(_folder(tmp_path, f"{pull}"), recipe, examples, silent).learned_backbone
        return sum(float((after - before).detach().abs().sum()) for after, before in zip(ended, began, strict=True))

    assert way(1e6) == 0.0
    assert 0.0 < way(200.0) < 0.9 * way(0.0)


def test_a_batch_without_objects_is_learned_from_all_the_same(tmp_path: Path, examples: Examples) -> None:
    """Where everything is too small to count, no location answers and no region is sampled."""
    specks = tuple(
        replace(item, boxes=item.boxes[:, [0, 1, 0, 1]] + [0, 0, 1, 1], complete=False) for item in examples.items
    )
    train_detector(tmp_path, tiny_recipe(steps=2), Examples(examples.classes, specks), silent)
    assert [line["total"] for line in journal_of(tmp_path)] == [0.0, 0.0]


@pytest.mark.parametrize("step", [0, 1, 50, 99])
def test_learning_rates_rise_and_fall(step: int) -> None:
    recipe = Recipe(backbone_weights="random", learned_blocks=8, steps=100, warm_up=2)
    weights = [nn.Parameter(torch.zeros(1)) for _ in range(2)]
    optimizer = torch.optim.AdamW([{"params": [entry]} for entry in weights])
    loop._set_learning_rates(optimizer, recipe, step)
    factor = {0: 0.5, 1: 1.0, 50: 0.51, 99: 0.02}[step]
    rates = [group["lr"] for group in optimizer.param_groups]
    assert rates == pytest.approx([factor * 2e-3, factor * 1e-4], rel=0.02)


def test_a_device_is_one_that_computes() -> None:
    assert device_named("cpu") == torch.device("cpu")
    assert device_named("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    for name in ("abacus", "cuda:99", "meta"):
        with pytest.raises(TrainingError, match=f"nothing can be computed on the device '{name}'") as raised:
            device_named(name)
        assert "--device" in raised.value.remedy


def test_without_the_fast_way_frozen_blocks_give_the_same_losses(examples: Examples) -> None:
    """What a GPU computes: the frozen blocks in torch, and nothing by ONNX Runtime."""
    recipe = tiny_recipe(backbone_weights="imagenet", learned_blocks=2)
    detector = Detector(recipe, 2)
    _, batch = next(loop.batches(examples, recipe, Workers(0, 1), 0))
    losses = []
    for fast in (detector._fast, None):
        detector._fast = fast
        found = loop.batch_losses(detector, batch.on(torch.device("cpu")), recipe, torch.Generator().manual_seed(0))
        losses.append({name: float(value.detach()) for name, value in found.items()})
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)


def test_gradients_are_averaged_over_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other worker has gradients of 4 for all weights; this one has none for the bias, and one weight is fixed."""
    network = nn.Linear(3, 2)
    network.register_parameter("fixed", nn.Parameter(torch.ones(5), requires_grad=False))
    network.weight.grad = torch.full((2, 3), 2.0)

    def all_reduce(flat: Tensor) -> None:
        assert flat.tolist() == [2.0] * 6 + [0.0] * 2
        flat += 4.0

    monkeypatch.setattr(distributed, "all_reduce", all_reduce)
    Workers(0, 2).average_gradients(network)
    assert network.weight.grad.tolist() == [[3.0] * 3] * 2
    assert network.bias.grad is not None
    assert network.bias.grad.tolist() == [2.0] * 2


def test_one_worker_alone_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(distributed, "all_reduce")
    network = nn.Linear(3, 2)
    network.weight.grad = torch.full((2, 3), 2.0)
    Workers(0, 1).average_gradients(network)
    assert network.weight.grad.tolist() == [[2.0] * 3] * 2
    assert network.bias.grad is None


def _folder(parent: Path, name: str) -> Path:
    (parent / name).mkdir()
    return parent / name

"""A training run on disk: what it began with, its losses, all that the next step needs, the exported model."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Any, Self, final

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from tag2box.errors import TrainingError
from tag2box.extract import read_card
from tag2box.files import replacing, write_json
from tag2box.training.detector.assembly import Detector
from tag2box.training.detector.examples import Examples
from tag2box.training.detector.export import export_model
from tag2box.training.detector.recipe import Recipe
from tag2box.training.detector.workers import is_first_worker
from tag2box.viz import draw_losses

TRAINING_NAME = "run.json"
MODEL_NAME = "model"
CHECKPOINT_NAME = "checkpoint.safetensors"
JOURNAL_NAME = "losses.jsonl"


def begin_training(folder: Path, recipe: Recipe, examples: Examples, begin_with: Path | None = None) -> None:
    """Make the folder and write down what is trained on what; a run that goes on stays what it was."""
    if not is_first_worker() or (folder / CHECKPOINT_NAME).exists():
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / TRAINING_NAME, {"recipe": recipe.to_json(), "trained_on": trained_on(examples, begin_with)})
    except OSError as error:
        raise TrainingError(
            f"the folder {folder} cannot be written: {error.strerror}.", "a folder to write to", "choose another one."
        ) from error


def finish_training(
    folder: Path, detector: Detector, recipe: Recipe, examples: Examples, begin_with: Path | None = None
) -> None:
    """Draw the losses and export the model."""
    if not is_first_worker():
        return
    draw_losses(folder / "losses.png", read_journal(folder / JOURNAL_NAME))
    export_model(folder / MODEL_NAME, detector, recipe, trained_on(examples, begin_with))


def trained_on(examples: Examples, begin_with: Path | None = None) -> dict[str, object]:
    """What a card says of the data, and of the model that it was seen by first."""
    objects = sum(len(example.boxes) for example in examples.items)
    known: dict[str, object] = {"classes": list(examples.classes), "photos": len(examples), "objects": objects}
    if begin_with is not None:
        began = read_card(begin_with)
        known["began_with"] = {"recipe": began.recipe, "trained_on": began.trained_on, "hashes": began.hashes}
    return known


@final
class Journal:
    """Appends to the losses of a run, a JSON line a step; use it in a ``with`` block."""

    def __init__(self, folder: Path, done: int, *, writes: bool) -> None:
        """Open the journal for the step after ``done`` steps; what was written beyond is dropped."""
        self._file = None
        if writes:
            path = folder / JOURNAL_NAME
            kept = [line for line in read_journal(path) if line["step"] < done]
            with replacing(path) as temporary:
                temporary.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
            self._file = path.open("a", encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, step: int, losses: dict[str, float], seconds: float) -> None:
        """Add the losses of one step."""
        if self._file is not None:
            rounded = {name: round(value, 6) for name, value in losses.items()}
            self._file.write(json.dumps({"step": step, "seconds": round(seconds, 2)} | rounded) + "\n")
            self._file.flush()


def read_journal(path: Path) -> list[dict[str, Any]]:
    """The lines of a journal; a last line that was cut off is left out."""
    if not path.exists():
        return []
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            lines.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return lines


def save_checkpoint(path: Path, network: nn.Module, optimizer: torch.optim.Optimizer, identity: str, step: int) -> None:
    """Write weights, the optimizer's moments and the number of steps done; ``identity`` names the run."""
    tensors = {f"network.{name}": values for name, values in network.state_dict().items()}
    for number, moments in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": values for name, values in moments.items()}
    with replacing(path) as temporary:
        contiguous = {name: values.contiguous() for name, values in tensors.items()}
        save_file(contiguous, temporary, metadata={"step": str(step), "identity": identity})


def load_checkpoint(path: Path, network: nn.Module, optimizer: torch.optim.Optimizer, identity: str) -> int:
    """Restore network and optimizer; the number of steps done, which is 0 if there is no checkpoint."""
    if not path.exists():
        return 0
    tensors, about = _read(path)
    if about.get("identity") != identity:
        raise TrainingError(
            f"checkpoint {path} belongs to another run.",
            "the same recipe, classes and photos as when it began",
            "choose another folder, or go back to the recipe that stands in the folder.",
        )
    network.load_state_dict(_under("network.", tensors))
    _restore(optimizer, _under("optimizer.", tensors))
    return int(json.loads(about["step"]))


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """All tensors of a checkpoint, and what it says of itself."""
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise TrainingError(
            f"checkpoint {path} cannot be read: {error}.", "a whole checkpoint", "delete it to begin again."
        ) from error


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): values for name, values in tensors.items() if name.startswith(prefix)}


def _restore(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for name, values in tensors.items():
        number, moment = name.split(".")
        state.setdefault(int(number), {})[moment] = values
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})

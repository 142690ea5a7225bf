"""From trained detectors to a model that the product opens: unattended, and on again where it stopped.

Two detectors are needed, not one. What ships is trained on all base classes; settings and calibration are chosen on
classes that a detector has never seen, and its twin, trained without them, is that detector.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from tag2box.errors import ModelError
from tag2box.experiments.bench.calibrating import calibration_facts, calibration_trials, fit_calibration
from tag2box.experiments.bench.sources import HELD_OUT
from tag2box.experiments.bench.tuning import Tasks, choose_all, datasets_for, require_tunable, tuned_methods
from tag2box.experiments.bench.workbench import Workbench
from tag2box.extract import BOX_GRAPH, CARD_NAME, PHOTO_GRAPH
from tag2box.files import replacing_folder, require_replaceable
from tag2box.methods.calibration import CALIBRATION_NAME, fitted_on, load_calibration, save_calibration
from tag2box.model import DETECTOR, KNOWLEDGE_NAME, SETTINGS_NAME, Model, load_settings, save_knowledge, save_settings
from tag2box.progress import Progress

WRITER = "tag2box model make"


@final
@dataclass(frozen=True)
class Making:
    """What a model is made from."""

    detector: Path
    """Folder with the card and the graphs of a training run"""
    data: Path
    store: Path
    """Where everything is kept that took time, for the next try"""
    held_out: Path | None
    """The same for its twin, on whose unseen classes choices are made …"""
    like: Path | None
    """… or, without one, a model whose choices are taken over"""
    shots: int = 5
    tasks: int = 2000
    """That each choice of settings is made on; of each size, an eighth of them for the calibration"""
    seed: int = 0

    def __post_init__(self) -> None:
        if (self.held_out is None) == (self.like is None):
            raise ModelError(
                "settings and calibration have to come from somewhere.",
                "either a twin of the detector that never saw some classes, or a model to take them from",
                "give --held-out or --like, and not both.",
            )


def make_model(asked: Making, output: Path, progress: Progress, say: Callable[[str], None]) -> Model:
    """Fit, choose, calibrate and put it all into one folder, which is opened once before it is there."""
    require_replaceable(output, WRITER)
    _require_choices(asked)
    known = Workbench(asked.data, asked.store, asked.detector).fit_knowledge(progress)
    say(f"Base regions: {known.regions:,} of {known.images:,} photos beside objects.")
    chosen = _choose(asked, progress, say) if asked.held_out is not None else _take_over(asked)
    with replacing_folder(output, WRITER) as fresh:
        for name in (CARD_NAME, PHOTO_GRAPH, BOX_GRAPH):
            shutil.copy(asked.detector / name, fresh)
        save_knowledge(fresh / KNOWLEDGE_NAME, known)
        for name in (SETTINGS_NAME, CALIBRATION_NAME):
            shutil.copy(chosen / name, fresh)
        Model.open(fresh)
    return Model.open(output)


def _require_choices(asked: Making) -> None:
    """Refuse a twin or a model that choices cannot come from, before the work."""
    if asked.held_out is not None:
        require_tunable(Workbench(asked.data, asked.store, asked.held_out), tuned_methods())
    else:
        Model.open(Path(str(asked.like)))


def _choose(asked: Making, progress: Progress, say: Callable[[str], None]) -> Path:
    """Folder with the settings and the calibration that held-out classes prefer."""
    twin = Workbench(asked.data, asked.store, asked.held_out)
    methods, tasks = tuned_methods(), Tasks(asked.shots, asked.tasks, asked.seed)
    classes = list(twin.load(HELD_OUT).classes)
    for name in datasets_for(twin, methods):
        twin.prepare(name, progress)
    twin.school_rivals(methods, progress)
    folder = twin.folder / "chosen"
    folder.mkdir(parents=True, exist_ok=True)
    settings = choose_all(twin, methods, tasks, folder / SETTINGS_NAME, progress, say)
    facts = calibration_facts(twin, classes, settings, _trust_tasks(asked), asked.seed)
    if fitted_on(folder / CALIBRATION_NAME) != facts:
        trials = calibration_trials(twin, settings, _trust_tasks(asked), asked.seed, progress)
        fitted = fit_calibration(trials, settings.of(DETECTOR)["sharpness"])
        save_calibration(folder / CALIBRATION_NAME, fitted, facts)
    return folder


def _trust_tasks(asked: Making) -> int:
    return max(1, asked.tasks // 8)


def _take_over(asked: Making) -> Path:
    """Folder with the choices of another model, which say whose they are."""
    source = Path(str(asked.like))
    folder = Workbench(asked.data, asked.store, asked.detector).folder / "taken-over"
    folder.mkdir(parents=True, exist_ok=True)
    whose = {"taken over from": Model.open(source).fingerprint}
    settings = load_settings(source / SETTINGS_NAME)
    how = {name: {**settings.chosen_how.get(name, {}), **whose} for name in settings.own}
    save_settings(folder / SETTINGS_NAME, replace(settings, chosen_how=how))
    facts = {**fitted_on(source / CALIBRATION_NAME), **whose}
    save_calibration(folder / CALIBRATION_NAME, load_calibration(source / CALIBRATION_NAME), facts)
    return folder

"""``tag2box measure``: how good an extractor is."""

from __future__ import annotations

from enum import StrEnum
from math import isnan
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from tag2box.cli.arguments import ModelFolder, SplitName, StoreFolder, TruthFile
from tag2box.cli.terminal import plain_console, step_progress
from tag2box.data import Dataset, read_dataset
from tag2box.evaluation import Interval, t_interval
from tag2box.experiments.bench.sources import classes_named
from tag2box.experiments.bench.tasks import Pool
from tag2box.experiments.colocalization import METHODS, draw_tasks, outcomes
from tag2box.experiments.features import (
    base_average_precision,
    describe_objects,
    draw_objects,
    feature_parts,
    prototype_accuracy,
)
from tag2box.experiments.recall import OVERLAPS, cover_objects, recall_by_rules
from tag2box.experiments.separation import kinds_of_regions, separations
from tag2box.extract import model_folder, open_extractor, read_card
from tag2box.extract.card import add_metrics
from tag2box.methods.lineup import LINEUP
from tag2box.methods.localizers import SceneMil
from tag2box.model import KNOWLEDGE_NAME, LOCALIZER, SETTINGS_NAME, Model, load_knowledge, load_settings
from tag2box.product.rehearsal import Rehearsal, rehearse
from tag2box.product.scripted_person import BY_DOUBT, ORDERS, ScriptedPerson, errors_gone
from tag2box.store import FeatureStore, StoreHeader
from tag2box.viz import Curve, draw_curves, require_chart, save_figure

measure_app = typer.Typer(help="Measure how good an extractor is, on images with boxes.", no_args_is_help=True)


class Classes(StrEnum):
    """Which classes of an annotation file count."""

    all = "all"
    base = "base"
    novel = "novel"
    held_out = "held-out"


WhichClasses = Annotated[Classes, typer.Option("--classes", help="Classes that count, by the split.")]
TaggedPhotos = Annotated[int, typer.Option(min=2, help="Photos of each class that are tagged.")]
TimesTagged = Annotated[int, typer.Option(min=2, help="How often other photos are tagged.")]
CardEntry = Annotated[
    str | None, typer.Option("--card", help="Write the result into the model's card, under this name.")
]


@measure_app.command("recall")
def recall(
    store: StoreFolder,
    truth: TruthFile,
    classes: WhichClasses = Classes.all,
    split: SplitName = "coco60",
    model: ModelFolder = None,
    card: CardEntry = None,
) -> None:
    """Say how many objects the regions cover."""
    console = plain_console()
    images = [image for image in _dataset(truth, classes, split).images if image.tags]
    with step_progress("Comparing", len(images), console) as advance:
        covered = cover_objects(FeatureStore(store), images, advance)
    table = Table(title=f"Recall in %, {covered.images:,} images, {len(covered.boxes):,} objects")
    for heading in ("overlap", "objects", *map(str, covered.recall(OVERLAPS[0]))):
        table.add_column(heading, justify="right")
    for overlap in OVERLAPS:
        groups = {"all": (len(covered.boxes), covered.recall(overlap))} | covered.by_size(overlap)
        for name, (count, found) in groups.items():
            table.add_row(f"{overlap}", f"{name} ({count:,})", *(f"{100 * value:.1f}" for value in found.values()))
    console.print(table)
    figures = {str(overlap): _percent(covered.recall(overlap)) for overlap in OVERLAPS}
    sizes = {name: _percent(found) for name, (_, found) in covered.by_size(OVERLAPS[0]).items()}
    _write(model, card, {"recall": figures | {"by size at 0.5": sizes}, "objects": len(covered.boxes)})


@measure_app.command("rules")
def rules(
    truth: TruthFile,
    classes: WhichClasses = Classes.held_out,
    split: SplitName = "coco60",
    images: Annotated[int, typer.Option(min=1, help="So many of the file's images, evenly spread.")] = 250,
    model: ModelFolder = None,
) -> None:
    """Say what each rule of proposing is worth, one changed at a time: ask a model that never learned the classes."""
    console = plain_console()
    shown = [image for image in _dataset(truth, classes, split).images if image.tags]
    chosen = shown[:: max(1, len(shown) // images)][:images]
    with step_progress("Proposing", len(chosen), console) as advance:
        found = recall_by_rules(open_extractor(model), chosen, advance)
    table = Table(title=f"Recall in %, {len(chosen):,} images, {len(next(iter(found.values())).boxes):,} objects")
    table.add_column("rules")
    for heading in ("100 regions", "300 regions", "300 regions, IoU 0.7"):
        table.add_column(heading, justify="right")
    for name, covered in found.items():
        figures = (covered.recall(0.5)[100], covered.recall(0.5)[300], covered.recall(0.7)[300])
        table.add_row(name, *(f"{100 * value:.1f}" for value in figures))
    console.print(table)


@measure_app.command("prototypes")
def prototypes(
    truth: TruthFile,
    classes: WhichClasses = Classes.all,
    split: SplitName = "coco60",
    episodes: Annotated[int, typer.Option(min=1)] = 500,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    model: ModelFolder = None,
    card: CardEntry = None,
) -> None:
    """Say how well features of true boxes tell the classes apart: nearest prototype of five."""
    console = plain_console()
    dataset = _dataset(truth, classes, split)
    extractor = open_extractor(model)
    objects = draw_objects(dataset.images, dataset.classes, seed)
    with step_progress("Describing", len(objects), console) as advance:
        described = describe_objects(extractor, objects, advance)
    figures = {}
    for title, features in feature_parts(described, extractor.card).items():
        accuracy = prototype_accuracy(features, [thing.label for thing in objects], episodes, seed)
        console.print(f"{title:24s} {_shown(accuracy)}")
        figures[title] = _interval(accuracy)
    _write(model, card, {f"{len(dataset.classes)}-way 5-shot prototypes on true boxes": figures})


@measure_app.command("separation")
def separation(
    store: StoreFolder,
    truth: TruthFile,
    classes: WhichClasses = Classes.held_out,
    split: SplitName = "coco60",
    model: ModelFolder = None,
    card: CardEntry = None,
) -> None:
    """Say how well one direction of the features tells objects of the classes from background (area under ROC)."""
    console = plain_console()
    dataset, extractor = read_dataset(truth), read_card(model_folder(model))
    features = FeatureStore(store, StoreHeader(extractor.fingerprint, extractor.dimension))
    asked = classes_named(classes, dataset, split)
    images = [image for image in dataset.images if image.tags & set(asked) and image.image_id in features]
    with step_progress("Comparing", len(images), console) as advance:
        found = separations(kinds_of_regions(features, images, asked, advance), extractor)
    for title, area in found.items():
        console.print(f"{title:24s} {_shown(area)}")
    _write(model, card, {"objects told from background": {title: _interval(area) for title, area in found.items()}})


@measure_app.command("base")
def base(
    truth: TruthFile,
    images: Annotated[int, typer.Option(min=1, help="Of the file's images, the first so many.")] = 500,
    model: ModelFolder = None,
    card: CardEntry = None,
) -> None:
    """Say how well the model detects the classes that it was trained on."""
    console = plain_console()
    extractor = open_extractor(model)
    known = read_dataset(truth).only(extractor.card.trained_on["classes"]).images[:images]
    with step_progress("Detecting", len(known), console) as advance:
        precision = base_average_precision(extractor, known, advance)
    console.print(f"AP50 of the trained classes on {len(known):,} images: {100 * precision:.1f} %")
    _write(model, card, {"AP50 of the trained classes": round(100 * precision, 2), "images": len(known)})


@measure_app.command("colocalization")
def colocalization(
    store: StoreFolder,
    truth: TruthFile,
    background: Annotated[Path | None, typer.Option(help="File of tag2box background; else the model's.")] = None,
    settings: Annotated[Path | None, typer.Option(help="File of tag2box bench tune; else the model's.")] = None,
    classes: WhichClasses = Classes.all,
    split: SplitName = "coco60",
    shots: Annotated[int, typer.Option(min=2)] = 5,
    episodes: Annotated[int, typer.Option(min=1)] = 500,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    model: ModelFolder = None,
    card: CardEntry = None,
) -> None:
    """Find the class that a few images share, in them and in one more; report macro CorLoc."""
    folder = model_folder(model)
    chosen = load_settings(settings or folder / SETTINGS_NAME).of(LOCALIZER)
    localizer = LINEUP[LOCALIZER].build(load_knowledge(background or folder / KNOWLEDGE_NAME), chosen)
    if not isinstance(localizer, SceneMil):
        raise TypeError(f"{LOCALIZER} does not look at scenes")
    dataset = _dataset(truth, classes, split)
    pool, tasks = Pool.of(FeatureStore(store), dataset), draw_tasks(dataset, shots, episodes, seed)
    console = plain_console()
    console.print(", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in chosen.items()))
    with step_progress("Localizing", METHODS * len(tasks), console) as advance:
        found = outcomes(pool, tasks, localizer, advance)
    for name, (support, query) in found.items():
        console.print(f"  {name:18s} support {_shown(support)}  query {_shown(query)}")
    _write(model, card, {f"query CorLoc, K = {shots}": {name: _interval(query) for name, (_, query) in found.items()}})


@measure_app.command("product")
def product(
    store: StoreFolder,
    truth: TruthFile,
    shots: TaggedPhotos = 10,
    draws: TimesTagged = 10,
    drawn: Annotated[int, typer.Option(min=0, help="Of these, photos in which a box is drawn too.")] = 0,
    strangers: Annotated[
        Path | None, typer.Option(help="Store of photos that show none of the classes: how often is something seen?")
    ] = None,
    model: ModelFolder = None,
) -> None:
    """Use the product as a person would: tag a few photos of each class, and detect in the rest."""
    console = plain_console()
    dataset, opened, asked = read_dataset(truth), Model.open(model), Rehearsal(shots, draws, drawn)
    others = FeatureStore(strangers) if strangers is not None else None
    with step_progress("Rehearsing", draws, console) as advance:
        found = rehearse(dataset, FeatureStore(store), opened, asked, advance, others)
    told = f", a box drawn in {drawn} of them" if drawn else ""
    console.print(f"{len(dataset.classes)} classes, {shots} tagged photos of each{told}, {draws} draws")
    for name, interval in found.figures.items():
        console.print(f"  {name:<44} {_shown(interval)}")
    if found.corloc_by_class:
        worst, share = min(found.corloc_by_class.items(), key=lambda each: each[1])
        console.print(f"  {'CorLoc of the worst class':<44} {100 * share:5.1f} % ({worst})", soft_wrap=True)


@measure_app.command("corrections")
def corrections(
    store: StoreFolder,
    truth: TruthFile,
    shots: TaggedPhotos = 10,
    draws: TimesTagged = 10,
    words: Annotated[int, typer.Option(min=1, help="Wrong boxes that are corrected, in all photos together.")] = 5,
    picture: Annotated[Path | None, typer.Option(help="Draw the curves into this SVG or PNG file.")] = None,
    model: ModelFolder = None,
) -> None:
    """Correct a few wrong boxes as a person would, and say what that does to the photos that nobody touched."""
    if picture is not None:
        require_chart(picture)
    console = plain_console()
    dataset, opened = read_dataset(truth), Model.open(model)
    person = ScriptedPerson(dataset, FeatureStore(store), opened, words)
    console.print(f"{len(dataset.classes)} classes, {shots} tagged photos of each, {draws} draws")
    helped = {}
    for order in ORDERS:
        with step_progress(f"Correcting, {order}", draws, console) as advance:
            helped[order] = person.help(shots, draws, order, advance)
        console.print(f"Wrong boxes, {order}: {np.mean([each.looks for each in helped[order]]):.0f} looks")
        for number, right in enumerate(zip(*(each.right for each in helped[order]), strict=True)):
            console.print(f"  CorLoc of photos not touched, after {number} {_shown(t_interval(right))}")
        gone = 100 * errors_gone(helped[order])
        console.print(f"  wrong boxes that the words have put right elsewhere: {gone:.0f} %")
    offered, clicked = (
        np.concatenate([getattr(each, name) for each in helped[BY_DOUBT]]) for name in ("offered", "clicked")
    )
    if len(offered):
        console.print(f"Of {len(offered)} boxes that were wrong before the first word:")
        console.print(f"  the thing is among the places that are offered instead: {100 * offered.mean():.1f} %")
        console.print(f"  a click on the thing finds it: {100 * clicked.mean():.1f} %")
    if picture is not None:
        mean = {name: np.mean([each.right for each in some], axis=0) for name, some in helped.items()}
        places = np.arange(words + 1, dtype=np.float64)
        curves = {name: Curve(places, 100.0 * right) for name, right in mean.items()}
        title = f"{truth.parent.name}: photos that nobody touched"
        save_figure(draw_curves(title, "boxes corrected", "CorLoc, %", curves), picture)


def _dataset(truth: Path, classes: Classes, split: str) -> Dataset:
    dataset = read_dataset(truth)
    return dataset.only(classes_named(classes, dataset, split))


def _percent(values: dict[int, float]) -> dict[str, float | None]:
    """In percent; JSON has no NaN, so nothing to count is null."""
    return {str(count): None if isnan(value) else round(100 * value, 1) for count, value in values.items()}


def _interval(interval: Interval) -> dict[str, float]:
    percent = {name: round(100 * getattr(interval, name), 2) for name in ("value", "low", "high")}
    return percent | {"trials": interval.trials}


def _shown(interval: Interval) -> str:
    low, value, high = (100 * number for number in (interval.low, interval.value, interval.high))
    return f"{value:5.1f} % ({low:.1f} … {high:.1f}, n = {interval.trials:,})"


def _write(model: Path | None, name: str | None, figures: dict[str, Any]) -> None:
    """Put figures into the card of a model, if a name for them was given."""
    if name is not None:
        add_metrics(model_folder(model), name, figures)

"""``tag2box localize``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from tag2box.cli.arguments import ModelFolder, SkipBad, TaggedPhotos
from tag2box.cli.terminal import plain_console, step_progress

if TYPE_CHECKING:
    from tag2box.data import TagSet
    from tag2box.errors import PhotoError
    from tag2box.extract import TwoGraphs
    from tag2box.product.knowledge import Knowledge
    from tag2box.product.localizing import Localized, Suspicion
    from tag2box.store import FeatureStore


def localize(
    photos: TaggedPhotos,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for boxes and report.", show_default=False)],
    all_instances: Annotated[
        bool, typer.Option("--all-instances", help="Also look for more of the same in each photo.")
    ] = False,
    error_rate: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of wrong boxes that you accept among those not shown to you.")
    ] = 0.2,
    skip_bad: SkipBad = False,
    model: ModelFolder = None,
) -> None:
    """Find the tagged things: tags in, boxes out."""
    from tag2box.data import read_tags
    from tag2box.data.formats.coco import BOXES_NAME, write_boxes
    from tag2box.product.localizing import need_a_look, with_all_instances
    from tag2box.product.report import write_report
    from tag2box.product.run_folder import finish_run

    console = plain_console()
    tags, extractor = read_tags(photos), open_extractor(model, threads=1)
    found, store, knowledge, unreadable = localize_in(output, tags, extractor, skip_bad, console)
    labelled = with_all_instances(found, store, knowledge) if all_instances else found.labelled()
    look = need_a_look(found.suspicions(), error_rate)
    facts = {"tags": found.tags.source, "settings": dict(knowledge.chosen), "error_rate": error_rate}
    write_boxes(output / BOXES_NAME, labelled, {"extractor": knowledge.fingerprint})
    with console.status("Writing the report …"):
        write_report(output / "report.html", found, labelled, look)
    finish_run(output, facts | {"all_instances": all_instances})
    _print_summary(found, look, unreadable, console)
    console.print(f"Boxes: {output / BOXES_NAME}\nReport: {output / 'report.html'}", soft_wrap=True)


def localize_in(
    folder: Path, tags: TagSet, extractor: TwoGraphs, skip_bad: bool, console: Console
) -> tuple[Localized, FeatureStore, Knowledge, tuple[PhotoError, ...]]:
    """Extract into a run's folder and localize, with progress; tags that cannot be learned are refused before."""
    from tag2box.data.tags import shared_tags
    from tag2box.product.knowledge import knowledge_of
    from tag2box.product.localizing import localize_photos
    from tag2box.product.run_folder import begin_run, extract_tagged

    knowledge = knowledge_of(extractor)
    by_tag, _ = shared_tags(tags.photos)
    console.print(_what_was_given(tags), soft_wrap=True)
    begin_run(folder, tags, extractor)
    with step_progress("Looking at photos", len(tags.photos), console) as advance:
        store, unreadable = extract_tagged(folder, tags, extractor, advance, skip_bad=skip_bad)
    with step_progress("Finding what they share", len(by_tag), console) as advance:
        found = localize_photos(tags, store, knowledge, advance)
    return found, store, knowledge, unreadable


def _what_was_given(tags: TagSet) -> str:
    none = sum(not photo.tags for photo in tags.photos)
    beside = f", {none:,} of them with none" if none else ""
    return f"{len(tags.photos):,} photos with {len(tags.classes):,} tags ({tags.source}){beside}."


def _print_summary(
    found: Localized, look: list[Suspicion], unreadable: tuple[PhotoError, ...], console: Console
) -> None:
    from tag2box.product.report import suspects_of

    for one in found.learned:
        mine = [each for each in look if each.label == one.label]
        words = f"{len(mine)} need a look" if mine else "none needs a look"
        expected = float((1.0 - one.doubts).sum())
        console.print(
            f"  {one.label}: {len(one.bags)} photos, about {expected:.0f} boxes right, {words}.", soft_wrap=True
        )
    for label in found.left_out:
        console.print(f"  {label}: left out, it has one photo only; nothing can be common to one.", soft_wrap=True)
    for each in suspects_of(found):
        console.print(
            f"  Is {each.label!r} really in {each.photo.name}? ({each.absence:.0%} likely not)", soft_wrap=True
        )
    for error in unreadable:
        console.print(f"  Left out: {error.wrong}", soft_wrap=True)

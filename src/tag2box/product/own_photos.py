"""A run that begins without photos: they are given to it one by one, and lie in its own folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tag2box.data.tags import TaggedPhoto, TagSet
from tag2box.model import Model
from tag2box.product.run import Run
from tag2box.product.run_files import RUN_NAME, RunFacts, require_usable, write_facts, write_photos

OWN_NAME = "photos"
SOURCE = "given one by one"


def open_own(folder: Path, model: Model) -> Run:
    """The run in a folder, or a new one without any photos."""
    require_usable(folder)
    if not (folder / RUN_NAME).is_file():
        own = folder.resolve() / OWN_NAME
        own.mkdir(parents=True, exist_ok=True)
        write_photos(folder, TagSet(own, (), SOURCE))
        write_facts(folder, RunFacts(own, model.fingerprint, {}))
    return Run.open(folder, model)


def keeps_own(run: Run) -> bool:
    """Whether photos can be given to a run: those of other runs are somebody's, and stay as they are."""
    return run.given.folder == run.folder.resolve() / OWN_NAME


def add_photos(run: Run, photos: Sequence[TaggedPhoto]) -> None:
    """Give photos to a run; their names must be new to it."""
    together = (*run.given.photos, *photos)
    given = replace(run.given, photos=tuple(sorted(together, key=lambda photo: photo.name)))
    write_photos(run.folder, given)
    run.given = given

"""The folder of a run: which photos and extractor it is of, and the features that it can go on from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tag2box.data import TagSet
from tag2box.errors import PhotoError, RunError, reason_of
from tag2box.extract import Extractor, PhotoFile, extract_photos
from tag2box.files import TEMPORARY_SUFFIX, write_json
from tag2box.progress import Report
from tag2box.store import FeatureStore

RUN_NAME = "run.json"
FEATURES_NAME = "features"
FORMAT = "tag2box-run-1"


def begin_run(folder: Path, tags: TagSet, extractor: Extractor) -> None:
    """Make the folder, or make sure that it is of the same job; what the disk refuses is an OSError."""
    about = {"format": FORMAT, "photos": str(tags.folder.absolute()), "extractor": extractor.fingerprint}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if all(path.name.endswith(TEMPORARY_SUFFIX) for path in folder.iterdir()):  # what a crash may leave
            write_json(folder / RUN_NAME, about)
        before = json.loads((folder / RUN_NAME).read_text(encoding="utf-8"))
        same = {key: before.get(key) for key in about} == about
    except (FileNotFoundError, ValueError, AttributeError) as error:
        raise RunError(
            f"{folder} cannot be used for a run: {reason_of(error)}.",
            "a new or empty folder, or one of an earlier run",
            "choose another one with -o.",
        ) from error
    if not same:
        raise RunError(
            f"{folder} belongs to a run on {before.get('photos')} with {before.get('extractor')}.",
            f"a run on {about['photos']} with {about['extractor']}",
            "choose another folder with -o.",
        )


def extract_tagged(
    folder: Path, tags: TagSet, extractor: Extractor, report: Report, *, skip_bad: bool
) -> tuple[FeatureStore, tuple[PhotoError, ...]]:
    """The features of all photos, in the run's folder, and what is wrong with the photos that have none.

    What an earlier run has done is not done again; photos that are others now are refused. If a photo cannot be read,
    that is said when all others are done; with ``skip_bad`` it is left out.
    """
    files = [PhotoFile(photo.name, photo.path) for photo in tags.photos]
    outcome = extract_photos(extractor, files, folder / FEATURES_NAME, report)
    bad = outcome.unreadable
    if bad and not skip_bad:
        raise PhotoError(
            f"{len(bad)} of {len(files)} photos cannot be read:\n" + "\n".join(f"  {error.wrong}" for error in bad),
            "pictures that are whole",
            "replace or remove them and run the same command again (what is done stays), or add --skip-bad.",
        )
    return FeatureStore(folder / FEATURES_NAME), bad


def finish_run(folder: Path, facts: dict[str, Any]) -> None:
    """Write down how the run was made."""
    before = json.loads((folder / RUN_NAME).read_text(encoding="utf-8"))
    write_json(folder / RUN_NAME, before | facts)

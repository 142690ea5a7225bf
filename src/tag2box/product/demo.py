"""The whole story on the photos that ship with the package: tags in, boxes out, and a judgement.

C = classes, R = regions of all photos
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import final

import numpy as np

from tag2box.boxes import Box, box_overlaps
from tag2box.data import DatasetImage
from tag2box.data.doors import read_tags
from tag2box.data.formats.coco import read_coco
from tag2box.data.photo_files import find_photos
from tag2box.evaluation import RULES, average_precisions, is_correct, macro_mean
from tag2box.evaluation.matching import MIN_OVERLAP
from tag2box.extract import open_pixels
from tag2box.files import write_json
from tag2box.methods.detectors import LikenessHead
from tag2box.model import Model
from tag2box.product.detecting import head_of
from tag2box.product.events import Listener
from tag2box.product.finding import Found
from tag2box.product.learning import LearnedClass
from tag2box.product.machines import HERE
from tag2box.product.run import Run
from tag2box.product.run_files import FEATURES_NAME
from tag2box.store import FeatureStore
from tag2box.types import ProposalBag
from tag2box.viz import (
    RIGHT,
    WRONG,
    DrawnBox,
    EmReplay,
    PagePhoto,
    PageSection,
    draw_em,
    draw_sheet,
    save_figure,
    write_page,
)

SHOWN_DETECTIONS = 2
Say = Callable[[str], None]


@final
@dataclass(frozen=True)
class DemoResults:
    """What the demo measured."""

    classes: tuple[str, ...]
    support_photos: int
    query_photos: int
    localized: int
    """Times that a thing was looked for in a photo tagged with it"""
    localized_right: int
    """Times that its box was right"""
    ap50_voc_11_points: float
    ap50_voc_area: float
    ap50_coco_101_points: float


@final
@dataclass(frozen=True, eq=False)
class _Judged:
    """A photo with its true boxes, which are for the judgement alone."""

    image: DatasetImage
    bag: ProposalBag

    def drawn(self, box: Box, label: str) -> DrawnBox:
        """A box in green or red."""
        return DrawnBox(np.array(box, dtype=np.float32), label, RIGHT if self.is_right(box, label) else WRONG)

    def is_right(self, box: Box, label: str) -> bool:
        """Whether the box is on a thing of the class."""
        return is_correct(np.array(box, dtype=np.float32), self.image.truth, label)

    def on_page(self, boxes: Sequence[DrawnBox], caption: str) -> PagePhoto:
        """The photo with boxes."""
        return PagePhoto(self.image.path, self.image.height, self.image.width, tuple(boxes), caption)


def run_demo(folder: Path, say: Say, listen: Listener, model: Path | None = None) -> DemoResults:
    """Extract, localize, fit, detect and evaluate; leaves a page, pictures, a run and the results in ``folder``."""
    opened = Model.open(model, threads=1)
    with as_file(files("tag2box") / "assets" / "demo") as assets:
        truth = {image.path.name: image for image in read_coco(assets / "truth.json").images}
        with Run.begin(folder / "run", read_tags(assets / "photos"), opened) as run:
            run.extract(listen)
            queries = _queries(folder / "queries", assets / "queries", opened, listen)
            say("Localizing: which region do all photos with the same tag share?")
            found = run.localize(listen)
        features = FeatureStore(folder / "run" / FEATURES_NAME)
        support = {name: _Judged(truth[Path(name).name], features.bag(name)) for name in found.tags}
        asked = [_Judged(truth[Path(name).name], queries.bag(name)) for name in queries.image_ids]
        _draw_em(folder / "em.png", support, found.learned[0], opened)
        say("Learning a detector of each tag and looking at the new photos.")
        head = head_of(found.known(opened.fingerprint, ""), opened)
        results = _evaluate(support, asked, found, head)
        write_json(folder / "results.json", asdict(results))
        _write_report(folder / "report.html", support, asked, found, head)
    return results


def _queries(folder: Path, photos: Path, model: Model, listen: Listener) -> FeatureStore:
    """The new photos, as the extractor sees them."""
    HERE.look(model, find_photos([photos]), folder, listen)
    return FeatureStore(folder)


def _evaluate(
    support: Mapping[str, _Judged], asked: Sequence[_Judged], found: Found, head: LikenessHead
) -> DemoResults:
    right = [support[each.photo].is_right(each.box.box, each.box.label) for each in found.by_doubt()]
    pairs = [(head.detect(photo.bag), photo.image.truth) for photo in asked]
    precisions = {rule: macro_mean(average_precisions(pairs, head.classes, *how)) for rule, how in RULES.items()}
    return DemoResults(
        head.classes,
        len(support),
        len(asked),
        len(right),
        sum(right),
        precisions["voc_11_points"],
        precisions["voc_area"],
        precisions["coco_101_points"],
    )


def _write_report(
    path: Path, support: Mapping[str, _Judged], asked: Sequence[_Judged], found: Found, head: LikenessHead
) -> None:
    sections = []
    for one in found.learned:
        shown, right = [], 0
        for name, box in zip(one.photos, one.boxes, strict=True):
            shown.append(
                support[name].on_page([support[name].drawn(box.box, one.label)], ", ".join(sorted(found.tags[name])))
            )
            right += support[name].is_right(box.box, one.label)
        sections.append(PageSection(one.label, f"Found in {right} of the {len(shown)} photos with this tag.", shown))
    detected = [
        photo.on_page([photo.drawn(each.box, each.label) for each in head.detect(photo.bag)[:SHOWN_DETECTIONS]], "")
        for photo in asked
    ]
    words = f"The {SHOWN_DETECTIONS} likeliest things in photos without a tag."
    sections.append(PageSection("New photos", words, detected))
    words = (
        "Nobody drew a box: the tags under the photos are all that was given. Green boxes are right, red ones are not."
    )
    write_page(path, "tag2box: tags in, boxes out", words, sections, open_pixels)
    draw_sheet(
        path.with_name("boxes.png"), [photo for section in sections[:-1] for photo in section.photos], open_pixels
    )


def _draw_em(path: Path, support: Mapping[str, _Judged], one: LearnedClass, model: Model) -> None:
    """A tag's EM run as a picture."""
    tagged = [support[name] for name in one.photos]
    solution = model.learner.learn([photo.bag for photo in tagged], (), np.random.default_rng(0)).solution
    right = [
        (box_overlaps(photo.bag.boxes, photo.image.truth.of_class(one.label).boxes) >= MIN_OVERLAP).any(axis=1)
        for photo in tagged
    ]
    replay = EmReplay(
        likeness=[
            np.concatenate([view.directions.along(step.foreground.theta) for view in solution.views])
            for step in solution.steps
        ],
        weights=[solution.weights_at(step) for step in solution.steps],
        likelihoods=[step.likelihood for step in solution.steps],
        background=np.concatenate([view.background for view in solution.views]),
        images=np.repeat(np.arange(len(tagged)), [len(photo.bag) for photo in tagged]),
        right=np.concatenate(right),
    )
    shown = f"tagged {one.label!r}, a colour each. Rings: right answers. Squares: whole photos"
    save_figure(draw_em(replay, f"Regions of {len(tagged)} photos {shown}"), path)

"""The whole story on the photos that ship with the package: tags in, boxes out, and a judgement.

C = classes, R = regions of all photos
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import final

import numpy as np

from tag2box.boxes import box_overlaps
from tag2box.data import DatasetImage, read_coco
from tag2box.evaluation import (
    ap_11_points,
    ap_101_points,
    ap_area,
    average_precisions,
    is_correct,
    macro_mean,
    match_coco,
    match_voc,
)
from tag2box.evaluation.matching import MIN_OVERLAP
from tag2box.extract import Extractor, PhotoFile, extract_photos, open_extractor, open_pixels
from tag2box.files import write_json
from tag2box.methods.detectors import LikenessHead
from tag2box.methods.localizers import VmfForeground, VmfMil
from tag2box.methods.localizers.solution import Solution
from tag2box.product.knowledge import knowledge_of
from tag2box.progress import Report
from tag2box.store import FeatureStore
from tag2box.types import ProposalBag, Truth
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
Solutions = dict[str, Solution[VmfForeground]]


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
class DemoPhoto:
    """A photo with its regions; the tags are all that the method is told, the truth is for the judgement."""

    image: DatasetImage
    bag: ProposalBag
    tags: frozenset[str]

    @property
    def truth(self) -> Truth:
        """What is really in the photo."""
        return self.image.truth


def run_demo(folder: Path, say: Say, report: Report, model: Path | None = None) -> DemoResults:
    """Extract, localize, fit, detect and evaluate; leaves a page, a picture, a store and the results in ``folder``."""
    extractor = open_extractor(model, threads=1)
    photos, queries = _load(folder, extractor, report)
    classes = tuple(sorted({tag for photo in photos for tag in photo.tags}))
    say("Localizing: which region do all photos with the same tag share?")
    knowledge = knowledge_of(extractor)
    solutions = {label: _localize(knowledge.localizer, photos, label) for label in classes}
    _draw_em(folder / "em.png", photos, solutions)
    say("Learning a detector of each tag and looking at the new photos.")
    head = knowledge.head(classes, np.stack([solution.foreground.theta for solution in solutions.values()]))
    results = _evaluate(photos, queries, solutions, head)
    write_json(folder / "results.json", asdict(results))
    _write_report(folder / "report.html", photos, queries, solutions, head)
    return results


def demo_size() -> int:
    """How many photos the demo extracts."""
    with as_file(files("tag2box") / "assets" / "demo") as assets:
        return len(read_coco(assets / "truth.json"))


def _load(folder: Path, extractor: Extractor, report: Report) -> tuple[list[DemoPhoto], list[DemoPhoto]]:
    """The tagged photos and the new ones."""
    with as_file(files("tag2box") / "assets" / "demo") as assets:
        images = read_coco(assets / "truth.json").images
        with (assets / "photos" / "metadata.csv").open(encoding="utf-8", newline="") as file:
            tags = {row["file_name"]: frozenset(row["tags"].split(";")) for row in csv.DictReader(file)}
    path = folder / f"store-{extractor.fingerprint}"
    extract_photos(extractor, [PhotoFile(image.image_id, image.path) for image in images], path, report)
    store = FeatureStore(path)
    loaded = [DemoPhoto(i, store.bag(i.image_id), tags.get(i.path.name, frozenset())) for i in images]
    return [photo for photo in loaded if photo.tags], [photo for photo in loaded if not photo.tags]


def _tagged(photos: Sequence[DemoPhoto], label: str) -> list[DemoPhoto]:
    return [photo for photo in photos if label in photo.tags]


def _localize(localizer: VmfMil, photos: Sequence[DemoPhoto], label: str) -> Solution[VmfForeground]:
    return localizer.solve([photo.bag for photo in _tagged(photos, label)], np.random.default_rng(0))


def _chosen(photos: Sequence[DemoPhoto], solutions: Solutions, label: str) -> list[tuple[DemoPhoto, int, bool]]:
    """For every photo with the tag: the row of its box, and whether that is right."""
    rows = solutions[label].localization.rows
    return [
        (photo, int(row), is_correct(photo.bag.boxes[row], photo.truth, label))
        for photo, row in zip(_tagged(photos, label), rows, strict=True)
    ]


def _evaluate(
    photos: Sequence[DemoPhoto], queries: Sequence[DemoPhoto], solutions: Solutions, head: LikenessHead
) -> DemoResults:
    right = [hit for label in solutions for _, _, hit in _chosen(photos, solutions, label)]
    pairs = [(head.detect(photo.bag), photo.truth) for photo in queries]
    return DemoResults(
        head.classes,
        len(photos),
        len(queries),
        len(right),
        sum(right),
        macro_mean(average_precisions(pairs, head.classes, match_voc, ap_11_points)),
        macro_mean(average_precisions(pairs, head.classes, match_voc, ap_area)),
        macro_mean(average_precisions(pairs, head.classes, match_coco, ap_101_points)),
    )


def _write_report(
    path: Path, photos: Sequence[DemoPhoto], queries: Sequence[DemoPhoto], solutions: Solutions, head: LikenessHead
) -> None:
    sections = []
    for label in solutions:
        chosen = _chosen(photos, solutions, label)
        shown = [
            _on_page(photo, [_drawn(photo.bag.boxes[row], label, hit)], ", ".join(sorted(photo.tags)))
            for photo, row, hit in chosen
        ]
        right = sum(hit for _, _, hit in chosen)
        sections.append(PageSection(label, f"Found in {right} of the {len(shown)} photos with this tag.", shown))
    detected = [_on_page(photo, _detections(photo, head), "") for photo in queries]
    words = f"The {SHOWN_DETECTIONS} likeliest things in photos without a tag."
    sections.append(PageSection("New photos", words, detected))
    words = (
        "Nobody drew a box: the tags under the photos are all that was given. Green boxes are right, red ones are not."
    )
    write_page(path, "tag2box: tags in, boxes out", words, sections, open_pixels)
    draw_sheet(
        path.with_name("boxes.png"), [photo for section in sections[:-1] for photo in section.photos], open_pixels
    )


def _detections(photo: DemoPhoto, head: LikenessHead) -> list[DrawnBox]:
    best = list(head.detect(photo.bag))[:SHOWN_DETECTIONS]
    return [
        _drawn(
            np.asarray(one.box, dtype=np.float32), one.label, is_correct(np.asarray(one.box), photo.truth, one.label)
        )
        for one in best
    ]


def _drawn(box: np.ndarray, label: str, right: bool) -> DrawnBox:
    return DrawnBox(box, label, RIGHT if right else WRONG)


def _on_page(photo: DemoPhoto, boxes: list[DrawnBox], caption: str) -> PagePhoto:
    return PagePhoto(photo.image.path, photo.image.height, photo.image.width, tuple(boxes), caption)


def _draw_em(path: Path, photos: Sequence[DemoPhoto], solutions: Solutions) -> None:
    """The first tag's EM run as a picture."""
    label, solution = next(iter(solutions.items()))
    tagged = _tagged(photos, label)
    views = [solution.view(photo.bag) for photo in tagged]
    features = np.concatenate([rows for rows, _ in views])  # (R, d)
    right = [(box_overlaps(p.bag.boxes, p.truth.of_class(label).boxes) >= MIN_OVERLAP).any(axis=1) for p in tagged]
    replay = EmReplay(
        likeness=[features @ step.foreground.theta for step in solution.steps],
        weights=[step.weights for step in solution.steps],
        likelihoods=[step.likelihood for step in solution.steps],
        background=np.concatenate([background for _, background in views]),
        images=np.repeat(np.arange(len(tagged)), [len(photo.bag) for photo in tagged]),
        right=np.concatenate(right),
    )
    title = (
        f"Regions of {len(tagged)} photos tagged {label!r}, a colour each. Rings: right answers. Squares: whole photos"
    )
    save_figure(draw_em(replay, title), path)

"""A run: its folder, what it remembers, and what a person says to it."""

from __future__ import annotations

import contextlib
import html
import io
import json
import os
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import pytest
from PIL import Image
from pycocotools.coco import COCO

import tag2box
from planted_extractor import PlantedExtractor, planted_world
from tag2box.data import TaggedPhoto, TagSet, read_tags, read_truth
from tag2box.data.formats.coco import BOXES_NAME, read_boxes
from tag2box.errors import PhotoError, RunError, StoreError, TagsError
from tag2box.model import Model
from tag2box.product.corrections import Journal, Shows, ShowsNot, Tag, Undo
from tag2box.product.events import Advanced, Event, Stopped
from tag2box.product.run import Run
from tag2box.product.run_files import DRAWN_NAME, FEATURES_NAME, RUN_NAME

DEMO = Path(tag2box.__file__).parent / "assets" / "demo"


def corners(picture: Image.Image) -> Iterator[tuple[int, int]]:
    yield from ((x, y) for y in (0, picture.height // 2) for x in (0, picture.width // 2))


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Five photos with a red quarter, tagged red; two of them with a green one too, tagged green; one of nothing."""
    folder = tmp_path / "photos"
    for tag in ("red", "green", "_none"):
        (folder / tag).mkdir(parents=True)
    for number in range(6):
        picture = Image.new("RGB", (80, 60), (number, 90, 90))
        quarters = list(corners(picture))
        if number < 5:
            picture.paste(
                (250, number, 0), (*quarters[number % 4], quarters[number % 4][0] + 40, quarters[number % 4][1] + 30)
            )
        if number in {1, 2}:
            x, y = quarters[(number + 2) % 4]
            picture.paste((0, 250, number), (x, y, x + 40, y + 30))
        for tag in ["red"] * (number < 5) + ["green"] * (number in {1, 2}) + ["_none"] * (number == 5):
            picture.save(folder / tag / f"{number}.png")
    return folder


def quarter(number: int) -> list[float]:
    x, y = [(0.0, 0.0), (40.0, 0.0), (0.0, 30.0), (40.0, 30.0)][number % 4]
    return [x, y, x + 40.0, y + 30.0]


@pytest.fixture
def planted() -> tuple[Model, PlantedExtractor]:
    return planted_world()


def begin(folder: Path, photos: Path, model: Model) -> Run:
    return Run.begin(folder, read_tags(photos), model)


def boxes_of(run: Run) -> dict[str, dict[str, list[float]]]:
    return {photo.name: {box.label: list(box.box) for box in photo.boxes} for photo in run.labelled().photos}


def test_the_whole_story(photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor]) -> None:
    with begin(tmp_path / "run", photos, planted[0]) as run:
        assert run.state == (6, 0, 0, "none")
        run.extract()
        assert run.state == (6, 6, 0, "none")
        run.localize()
        assert run.state == (6, 6, 0, "fresh")
        found = boxes_of(run)
        assert sorted(found) == ["_none/5.png", "green/1.png", "green/2.png", "red/0.png", "red/3.png", "red/4.png"]
        assert found["_none/5.png"] == {}
        for name, some in found.items():
            if "red" in some:
                assert some["red"] == quarter(int(Path(name).stem)), name
        assert run.learn().labels == ("green", "red")
        assert run.report().read_text(encoding="utf-8").count("<h2>") >= 2
        written = run.export(["coco", "yolo"], tmp_path / "out")
        assert [folder.name for folder in written.folders] == ["coco", "yolo"]


def test_what_was_extracted_is_not_extracted_again(
    photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor]
) -> None:
    model, extractor = planted

    def stop(event: Event) -> None:
        if isinstance(event, Advanced) and event.done == 3:
            raise Stopped

    with begin(tmp_path / "run", photos, model) as run, pytest.raises(Stopped):
        run.extract(stop)
    extractor.seen.clear()
    with begin(tmp_path / "run", photos, model) as run:
        run.extract()
    assert len(extractor.seen) <= 3
    extractor.seen.clear()
    with begin(tmp_path / "run", photos, model) as run:
        run.extract()
    assert not extractor.seen


def test_a_run_is_opened_by_its_own_files_from_anywhere(
    photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, extractor = planted
    monkeypatch.chdir(tmp_path)
    with begin(Path("run"), Path("photos"), model) as run:
        run.extract()
        run.localize()
    extractor.seen.clear()
    monkeypatch.chdir(photos)
    with begin(Path("../run"), Path("."), model) as run:  # the same photos, seen from inside
        run.extract()
    with Run.open(Path("../run"), model) as run:
        run.localize()
        assert len(run.given.photos) == 6
    assert not extractor.seen
    monkeypatch.chdir(tmp_path)
    (tmp_path / "moved").mkdir()
    for name in ("run", "photos"):
        shutil.move(tmp_path / name, tmp_path / "moved" / name)
    with Run.open(Path("moved/run"), model) as run:
        assert all(photo.path.is_file() for photo in run.given.photos)
        assert run.report().is_file()


def test_a_run_inside_its_photos_goes_on(photos: Path, planted: tuple[Model, PlantedExtractor]) -> None:
    model, extractor = planted
    for _ in range(2):
        with begin(photos / "run", photos, model) as run:
            run.extract()
            run.localize()
            run.report()
    assert len(extractor.seen) == 6
    assert run.found is not None
    assert run.found.classes == ("green", "red")


def test_one_process_works_on_a_run_at_a_time(
    photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor]
) -> None:
    with begin(tmp_path / "run", photos, planted[0]), pytest.raises(RunError, match="another process is at work"):
        begin(tmp_path / "run", photos, planted[0])
    begin(tmp_path / "run", photos, planted[0]).close()


def test_a_photo_that_cannot_be_read_is_named_when_all_others_are_done(
    photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor]
) -> None:
    (photos / "red" / "0.png").write_bytes(b"no picture")
    with begin(tmp_path / "run", photos, planted[0]) as run:
        with pytest.raises(PhotoError, match=r"1 of 6 photos cannot be read:\n  photo .*0\.png"):
            run.extract()
        assert run.state.extracted == 5
        run.extract(skip_bad=True)
        assert len(run.unreadable) == 1
        assert "red/0.png" not in run.localize().tags


def test_a_photo_that_is_another_one_now_is_refused(
    photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor]
) -> None:
    with begin(tmp_path / "run", photos, planted[0]) as run:
        run.extract()
    Image.new("RGB", (80, 60), "white").save(photos / "red" / "0.png")
    with (
        begin(tmp_path / "run", photos, planted[0]) as run,
        pytest.raises(StoreError, match=r"0\.png is not the photo"),
    ):
        run.extract(skip_bad=True)


def test_folders_of_other_jobs_are_refused(
    photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor]
) -> None:
    model, _ = planted
    begin(tmp_path / "run", photos, model).close()
    other = Path(shutil.copytree(photos, tmp_path / "other"))
    with pytest.raises(RunError, match=f"belongs to a run on {re.escape(str(photos))}"):
        begin(tmp_path / "run", other, model)
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear aunt.txt").write_text("Dear aunt,")
    with pytest.raises(RunError, match=r"letters cannot be used for a run: it holds 'dear aunt\.txt'"):
        begin(tmp_path / "letters", photos, model)
    for content in ("", "[]", "7", '{"format": "another"}'):
        (tmp_path / "letters" / RUN_NAME).write_text(content)
        with pytest.raises(RunError):
            begin(tmp_path / "letters", photos, model)
    with pytest.raises(RunError, match="cannot be used as a run"):
        Run.open(tmp_path / "nowhere", model)


def test_what_cannot_be_learned_is_said_before_any_work(
    photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor]
) -> None:
    tags = read_tags(photos)
    alone = TagSet(tags.folder, tags.photos[:1], tags.source)
    with pytest.raises(TagsError, match="no tag has two photos"):
        Run.begin(tmp_path / "run", alone, planted[0])
    assert not (tmp_path / "run").exists()


def test_what_a_crash_leaves_is_no_obstacle(
    photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor]
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / f".{RUN_NAME}.123.part").write_text("{")
    (tmp_path / "run" / ".lock").touch()
    begin(tmp_path / "run", photos, planted[0]).close()
    assert json.loads((tmp_path / "run" / RUN_NAME).read_text())["photos"] == str(photos)


def test_a_run_of_the_first_format_goes_on(
    photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor]
) -> None:
    model, extractor = planted
    with begin(tmp_path / "run", photos, model) as run:
        run.extract()
    old = {"format": "tag2box-run-1", "photos": str(photos), "extractor": model.fingerprint, "error_rate": 0.2}
    (tmp_path / "run" / RUN_NAME).write_text(json.dumps(old))
    (tmp_path / "run" / "photos.json").unlink()
    extractor.seen.clear()
    with begin(tmp_path / "run", photos, model) as run:
        run.extract()
        run.localize()
    assert not extractor.seen


# What a person says


def test_what_a_person_says_is_kept_and_counts(
    photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor]
) -> None:
    model, _ = planted
    with begin(tmp_path / "run", photos, model) as run:
        run.extract()
        run.localize()
        assert run.correct(ShowsNot("red/3.png", "red"), by="me") == 1
        assert run.state.boxes == "stale"
        run.localize()
        assert run.state == (6, 6, 1, "fresh")
        assert boxes_of(run)["red/3.png"] == {}
        assert run.correct(Shows("red/4.png", "red", (40.0, 30.0, 80.0, 60.0), 4)) == 2
        run.localize()
        (box,) = next(photo.boxes for photo in run.labelled().photos if photo.name == "red/4.png")
        assert (list(box.box), box.doubt, box.absence) == ([40.0, 30.0, 80.0, 60.0], 0.0, 0.0)
    with Run.open(tmp_path / "run", model) as run:  # somebody else, later
        assert run.state == (6, 6, 2, "fresh")
        run.correct(Undo(1))
        run.correct(Undo(2))
        run.localize()
        assert boxes_of(run)["red/3.png"]["red"] == quarter(3)


def test_a_drawn_box_is_described_once(photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor]) -> None:
    model, _ = planted
    with begin(tmp_path / "run", photos, model) as run:
        run.extract()
        run.correct(Tag("_none/5.png", "grey"))
        run.correct(Shows("_none/5.png", "grey", (3.0, 4.0, 50.0, 40.0)))
        found = run.localize()
        assert "grey" in found.classes  # one photo is enough, because somebody said where
        assert boxes_of(run)["_none/5.png"]["grey"] == [3.0, 4.0, 50.0, 40.0]
    shards = sorted((tmp_path / "run" / DRAWN_NAME).glob("shard*"))
    with Run.open(tmp_path / "run", model) as run:
        run.localize()
    assert sorted((tmp_path / "run" / DRAWN_NAME).glob("shard*")) == shards
    assert len(shards) == 1


def test_only_the_class_that_was_spoken_of_is_solved_again(
    photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor]
) -> None:
    with begin(tmp_path / "run", photos, planted[0]) as run:
        run.extract()
        first = run.localize()
        run.correct(Shows("red/4.png", "red", (2.0, 2.0, 38.0, 29.0)))
        second, third = run.localize(), run.localize()
    assert second.learned[0] is first.learned[0]
    assert second.learned[1] is not first.learned[1]
    assert third.learned[1] is second.learned[1]  # a drawn box is the same box the next time


def test_what_was_said_elsewhere_counts_here_too(
    photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor]
) -> None:
    model, _ = planted
    lines = [
        {"kind": "shows", "photo": "red/4.png", "label": " red ", "box": [2, 3, 30, 28]},
        {"kind": "shows not", "photo": "red/3.png", "label": "red"},
        {"kind": "tag", "photo": "elsewhere.png", "label": "red"},
    ]
    written = tmp_path / "by hand.jsonl"
    written.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with begin(tmp_path / "run", photos, model) as run:
        run.extract()
        for _ in range(2):
            run.take_over(Journal(written).said())
        run.localize()
        assert boxes_of(run)["red/4.png"] == {"red": [2.0, 3.0, 30.0, 28.0]}
        assert boxes_of(run)["red/3.png"] == {}
        assert len(run.journal.said()) == 3
        assert run.known().strangers == ("elsewhere.png",)
        written.write_text(
            json.dumps({"kind": "shows", "photo": "red/4.png", "label": "red", "box": [0, 0, 99, 9]}) + "\n"
        )
        with pytest.raises(RunError, match="is no box in"):
            run.take_over(Journal(written).said())


def test_boxes_that_somebody_vouches_for_are_believed(
    photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor]
) -> None:
    """Of each thing in a photo the largest; what the annotations do not have, or nobody tagged, is passed over."""
    entries = [
        ("red/0.png", "red", [1, 2, 20, 20]),
        ("red/0.png", "red", [1, 2, 5, 5]),
        ("red/3.png", "green", [1, 1, 9, 9]),
    ]
    names = sorted({name for name, _, _ in entries})
    annotations = [
        {
            "id": n,
            "image_id": names.index(name) + 1,
            "category_id": 1 + (label == "green"),
            "bbox": box,
            "area": 1,
            "iscrowd": 0,
        }
        for n, (name, label, box) in enumerate(entries, 1)
    ]
    images = [{"id": n, "file_name": name, "width": 80, "height": 60} for n, name in enumerate(names, 1)]
    categories = [{"id": 1, "name": "red"}, {"id": 2, "name": "green"}]
    truth = tmp_path / "boxes.json"
    truth.write_text(json.dumps({"images": images, "annotations": annotations, "categories": categories}))
    with begin(tmp_path / "run", photos, planted[0]) as run:
        run.extract()
        for _ in range(2):
            assert run.trust(read_truth(truth), "me") == 1
        run.localize()
        assert boxes_of(run)["red/0.png"] == {"red": [1.0, 2.0, 21.0, 22.0]}
        assert len(run.journal.said()) == 1
        images[0]["width"] = 81
        truth.write_text(json.dumps({"images": images, "annotations": annotations, "categories": categories}))
        with pytest.raises(RunError, match="80 x 60 pixels"):
            run.trust(read_truth(truth), "me")


def test_learning_and_reporting_leave_the_boxes_as_they_were_asked_for(
    photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor]
) -> None:
    """A detector learned from a run, or a page made anew, must not undo ``--all-instances``."""
    model, _ = planted
    with begin(tmp_path / "run", photos, model) as run:
        run.extract()
        run.localize(all_instances=True, error_rate=0.1)
    before = [(tmp_path / "run" / name).read_bytes() for name in (BOXES_NAME, RUN_NAME)]
    with begin(tmp_path / "run", photos, model) as run:
        run.find()
        run.learn()
    with Run.open(tmp_path / "run", model) as run:
        run.report()
    assert [(tmp_path / "run" / name).read_bytes() for name in (BOXES_NAME, RUN_NAME)] == before
    with Run.open(tmp_path / "run", model) as run:
        run.correct(ShowsNot("red/3.png", "red"))
        run.report()  # makes stale boxes anew, in the way they were made
        facts = json.loads((tmp_path / "run" / RUN_NAME).read_text())
        assert (facts["all_instances"], facts["error_rate"], run.state.boxes) == (True, 0.1, "fresh")


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (ShowsNot("red/9.png", "red"), r"has no photo 'red/9\.png'"),
        (Undo(7), "there is no correction 7"),
        (Shows("red/0.png", "red", (0.0, 0.0, 81.0, 60.0)), "is no box in 'red/0.png'"),
        (Shows("red/0.png", "red", (30.0, 0.0, 20.0, 60.0)), "is no box in"),
        (Shows("red/0.png", "red", (0.0, 0.0, 40.0, 30.0), 99), r"region 99 of 'red/0\.png' is not at"),
        (Shows("red/0.png", "red", (0.0, 0.0, 40.0, 30.0), 3), r"region 3 of 'red/0\.png' is not at"),
    ],
)
def test_what_makes_no_sense_is_refused_and_not_kept(
    photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor], what: ShowsNot | Undo | Shows, words: str
) -> None:
    with begin(tmp_path / "run", photos, planted[0]) as run:
        run.extract()
        with pytest.raises(RunError, match=words):
            run.correct(what)
        with pytest.raises(TagsError):
            run.correct(Tag("red/0.png", "_none"))
        assert run.journal.said() == []


# A run on photos that ship, under names that mean harm

HOSTILE = "dog <img src=x onerror=alert(1)> \"'&amp;\n🐕.jpg"
TAG = "car</h2><script>alert('1')</script>"


class Hostile(NamedTuple):
    folder: Path
    tags: TagSet


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Hostile:
    """Two tags in five photos, localized and reported."""
    place = tmp_path_factory.mktemp("run")
    photos = []
    for name, source, words in [
        (HOSTILE, "dog-1.jpg", {"dog"}),
        ("dog-2.jpg", "dog-2.jpg", {"dog"}),
        ("both.jpg", "car-3.jpg", {"dog", TAG}),
        ("car.jpg", "car-1.jpg", {TAG}),
        ("none.jpg", "lamp-1.jpg", set()),
    ]:
        path = place / "photos" / name
        path.parent.mkdir(exist_ok=True)
        shutil.copy(DEMO / "photos" / source, path)
        photos.append(TaggedPhoto(name, path, frozenset(words)))
    tags = TagSet(place / "photos", tuple(photos), "by hand")
    with Run.begin(place / "run", tags, Model.open(threads=1)) as run:
        run.extract()
        run.localize()
        run.report()
    return Hostile(place / "run", tags)


def test_the_boxes_are_coco_with_one_box_for_each_photo_and_tag(hostile: Hostile) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO(str(hostile.folder / BOXES_NAME))
    names = {number: entry["file_name"] for number, entry in coco.imgs.items()}
    assert sorted(names.values()) == sorted(photo.name for photo in hostile.tags.photos)
    found = [(names[each["image_id"]], coco.cats[each["category_id"]]["name"]) for each in coco.anns.values()]
    assert sorted(found) == sorted((photo.name, tag) for photo in hostile.tags.photos for tag in photo.tags)
    for each in coco.anns.values():
        assert 0 <= each["score"] <= 1
        assert 0 <= each["doubt"] <= 1
        x, y, width, height = each["bbox"]
        image = coco.imgs[each["image_id"]]
        assert min(x, y) >= 0
        assert 0 < width <= image["width"] - x + 0.02
        assert 0 < height <= image["height"] - y + 0.02
        assert each["area"] == pytest.approx(width * height, rel=0.01)
    again = read_boxes(hostile.folder)
    assert [photo.name for photo in again.photos] == [photo.name for photo in hostile.tags.photos]
    assert again.folder == hostile.tags.folder


def attributes(page: str) -> set[str]:
    """Names of all attributes, as a browser would read the page."""
    names: set[str] = set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            names.update(name for name, _ in attrs)

    Reader().feed(page)
    return names


def test_the_report_needs_nothing_else_and_does_no_harm(hostile: Hostile) -> None:
    page = (hostile.folder / "report.html").read_text(encoding="utf-8")
    without_pictures = re.sub(r"data:image/jpeg;base64,[A-Za-z0-9+/=]+", "", page)
    assert not re.search(r"https?:|<link|<iframe|@import|url\(", without_pictures)
    assert without_pictures.count("<script") == 1  # the page's own
    assert not {name for name in attributes(page) if name == "src" or name.startswith("on")}
    assert page.count(f"<h2>{html.escape(TAG)}</h2>") == 1
    assert html.escape(HOSTILE) in page
    for photo in hostile.tags.photos[:-1]:
        assert html.escape(photo.name) in page


def test_the_files_of_a_run(hostile: Hostile) -> None:
    assert {name for name in os.listdir(hostile.folder) if not name.startswith(".")} == {
        "run.json", "photos.json", "features", "boxes.json", "report.html"
    }  # fmt: skip
    facts = json.loads((hostile.folder / RUN_NAME).read_text())
    assert (facts["format"], facts["error_rate"], facts["method"]) == ("tag2box-run-2", 0.2, "vmf-mil-likeness")
    assert len(list((hostile.folder / FEATURES_NAME).glob("s*"))) == 2

"""What people really give to a program: every mistake has its own words and exit code 2, and costs no work."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PIL import Image

import tag2box
from in_process import run_here
from tag2box.product.class_file import ClassSet, KnownClass, load_classes, save_classes
from tag2box.store import FeatureStore

PHOTOS = Path(tag2box.__file__).parent / "assets" / "demo" / "photos"


def put(folder: Path, names: dict[str, str]) -> Path:
    """Copies of photos that ship: name in the folder → name of the photo."""
    for name, source in names.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PHOTOS / source, folder / name)
    return folder


def forbid(path: Path, what: int) -> None:
    """Take a permission away, if that means anything here: to root it does not."""
    path.chmod(0o555 if what == os.W_OK else 0)
    if os.access(path, what):
        pytest.skip("nothing is forbidden to root")


def refused(done: CompletedProcess[str], *words: str) -> None:
    """The command ended in 2, with all three answers, and shows nothing of its insides."""
    assert done.returncode == 2, (done.stdout, done.stderr)
    for word in (*words, "tag2box: ", "\n  expected: ", "\n  what to do: "):
        assert word in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class file of the model that ships, whose one class is like nothing."""
    from tag2box.extract import open_extractor

    extractor = open_extractor()
    direction = np.eye(extractor.card.dimension, dtype=np.float32)[0]
    path = tmp_path_factory.mktemp("known") / "mug.classes"
    one = KnownClass("mug", direction, direction[None], 10.0, 99.0, 0.5, {})
    save_classes(path, ClassSet(extractor.fingerprint, (one,)))
    return path


# Nothing, or too little


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    refused(run_here("localize", tmp_path / "nowhere", "-o", tmp_path / "run"), f"nothing at {tmp_path / 'nowhere'}")
    assert not (tmp_path / "run").exists()


def test_a_folder_with_nothing_in_it(tmp_path: Path, classes: Path) -> None:
    (tmp_path / "photos" / "mug").mkdir(parents=True)
    for place in (tmp_path / "photos" / "mug", tmp_path / "photos"):
        refused(run_here("localize", place, "-o", tmp_path / "run"), "there is no photo in")
        refused(run_here("fit", place, "-o", tmp_path / "my.classes"), "there is no photo in")
        refused(run_here("detect", classes, place), "there is no picture in")


def test_one_photo_alone_has_nothing_in_common_with_others(tmp_path: Path) -> None:
    photos = put(tmp_path / "photos", {"dog/a.jpg": "dog-1.jpg", "car/b.jpg": "car-1.jpg"})
    for command in (("localize", photos, "-o", tmp_path / "run"), ("fit", photos, "-o", tmp_path / "my.classes")):
        refused(run_here(*command), "no tag has two photos that can be used; with one photo: car, dog.", "add photos")
    assert not (tmp_path / "run").exists()  # said before any work
    refused(run_here("localize", photos / "dog" / "a.jpg", "-o", tmp_path / "run"), "is a single photo")


@pytest.fixture(scope="module")
def with_a_lonely_tag(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("lonely")
    names = {"dog/a.jpg": "dog-1.jpg", "dog/b.jpg": "dog-2.jpg", "car/a.jpg": "car-1.jpg"}
    photos = put(folder / "photos", names)
    return folder, run_here("localize", photos, "-o", folder / "run")


def test_a_tag_with_one_photo_is_left_out_with_a_note(with_a_lonely_tag: tuple[Path, CompletedProcess[str]]) -> None:
    folder, done = with_a_lonely_tag
    assert done.returncode == 0, done.stderr
    assert "  car: left out, it has one photo only; nothing can be common to one.\n" in done.stdout
    boxes = json.loads((folder / "run" / "boxes.json").read_text())
    assert [entry["name"] for entry in boxes["categories"]] == ["dog"]
    fitted = run_here("fit", folder / "photos", "--run", folder / "run", "-o", folder / "my.classes")
    assert fitted.returncode == 0, fitted.stderr
    assert "  car: left out, it has one photo only" in fitted.stdout
    assert load_classes(folder / "my.classes").labels == ("dog",)
    exported = run_here("export", folder / "run", "--to", "yolo", "-o", folder / "out")  # not as a photo of nothing
    assert exported.stdout.splitlines()[1:] == ["1 photo left out: something is in each, and no box of it is exported."]
    assert not list((folder / "out").rglob("car*"))


def test_files_of_one_name_in_different_folders_stay_apart(
    with_a_lonely_tag: tuple[Path, CompletedProcess[str]], classes: Path
) -> None:
    folder, _ = with_a_lonely_tag
    photos = folder / "photos"
    assert set(FeatureStore(folder / "run" / "features").image_ids) == {"car/a.jpg", "dog/a.jpg", "dog/b.jpg"}
    twice = run_here("detect", classes, photos / "dog" / "a.jpg", photos / "car" / "a.jpg")
    assert twice.returncode == 0, twice.stderr
    assert {line.split(":")[0] for line in twice.stdout.splitlines() if ".jpg" in line} == {"dog/a.jpg", "car/a.jpg"}


# Photos that are none


def test_broken_photos_are_named_and_the_others_are_done(tmp_path: Path, classes: Path) -> None:
    photos = put(tmp_path / "photos", {"dog/a.jpg": "dog-1.jpg", "dog/b.jpg": "dog-2.jpg"})
    (photos / "dog" / "half.jpg").write_bytes((PHOTOS / "dog-3.jpg").read_bytes()[:3000])
    (photos / "dog" / "empty.jpg").write_bytes(b"")
    (photos / "dog" / "letter.jpg").write_text("Dear aunt,")
    command = ("localize", photos, "-o", tmp_path / "run")
    done = run_here(*command)
    refused(done, "3 of 5 photos cannot be read:", "half.jpg", "truncated", "empty.jpg", "0 bytes", "letter.jpg")
    assert FeatureStore(tmp_path / "run" / "features").image_ids == ("dog/a.jpg", "dog/b.jpg")
    assert not (tmp_path / "run" / "boxes.json").exists()
    going_on = run_here(*command, "--skip-bad")
    assert going_on.returncode == 0, going_on.stderr
    assert going_on.stdout.count("  Left out: photo ") == 3
    assert len(json.loads((tmp_path / "run" / "boxes.json").read_text())["images"]) == 2
    fitted = run_here("fit", photos, "--run", tmp_path / "run", "-o", tmp_path / "my.classes", "--skip-bad")
    assert fitted.returncode == 0, fitted.stderr
    assert fitted.stdout.count("  Left out: photo ") == 3


def test_detect_looks_at_the_photos_that_are_whole(tmp_path: Path, classes: Path) -> None:
    (tmp_path / "bad.jpg").write_bytes(b"\xff\xd8\xff broken")
    Image.new("RGB", (30, 20)).save(tmp_path / "good.jpg")
    done = run_here("detect", classes, tmp_path, "--json", "-o", tmp_path / "results.json")
    refused(done, "1 of 2 photos cannot be read:", "bad.jpg", "or add --skip-bad")
    assert json.loads(done.stdout)["file_name"] == "good.jpg"
    results = json.loads((tmp_path / "results.json").read_text())
    assert {(entry["file_name"], entry["found"]) for entry in results} == {("good.jpg", False)}
    assert run_here("detect", classes, tmp_path, "--skip-bad").returncode == 0


def test_a_photo_that_may_not_be_opened(tmp_path: Path) -> None:
    photos = put(tmp_path / "photos", {"dog/a.jpg": "dog-1.jpg", "dog/b.jpg": "dog-2.jpg"})
    forbid(photos / "dog" / "b.jpg", os.R_OK)
    refused(run_here("localize", photos, "-o", tmp_path / "run"), "b.jpg cannot be read: Permission denied")


def test_photos_of_odd_sizes_are_photos(tmp_path: Path, classes: Path) -> None:
    photos = put(tmp_path / "photos", {"dog/a.jpg": "dog-1.jpg"})
    Image.new("RGB", (1, 1), (200, 0, 0)).save(photos / "dog" / "dot.png")
    Image.effect_noise((30_000, 40), 60).save(photos / "dog" / "wide.png")
    done = run_here("localize", photos, "-o", tmp_path / "run", "--all-instances")
    assert done.returncode == 0, done.stderr
    content = json.loads((tmp_path / "run" / "boxes.json").read_text())
    sizes = {entry["file_name"]: (entry["width"], entry["height"]) for entry in content["images"]}
    assert sizes["dog/dot.png"] == (1, 1)
    assert sizes["dog/wide.png"] == (30_000, 40)
    drawn = run_here("detect", classes, photos / "dog", "--draw", tmp_path / "drawn", "--min-score", "0")
    assert drawn.returncode == 0, drawn.stderr
    assert len(list((tmp_path / "drawn").iterdir())) == 3
    for entry in content["annotations"]:
        x, y, width, height = entry["bbox"]
        assert min(x, y) >= 0
        assert min(width, height) > 0


# Names


ODD_NAMES = ("two words.jpg", 'it\'s "quoted".jpg', "🐕 émoji [/b] :dog:.jpg", "two\nlines.jpg", "-o.jpg", "100%.jpg")


def test_odd_names_go_all_the_way(tmp_path: Path) -> None:
    places = zip(ODD_NAMES, ("dog-1", "dog-2", "dog-3", "dog-4", "car-1", "car-2"), strict=True)
    tags = ["the dog's 🐕 [x]"] * 4 + [":car: & <b>"] * 2
    names = {f"{tag}/{name}": f"{source}.jpg" for tag, (name, source) in zip(tags, places, strict=True)}
    run_folder = tmp_path / "a run [1] :cat:"
    done = run_here("localize", put(tmp_path / "my photos", names), "-o", run_folder)
    assert done.returncode == 0, done.stderr
    assert f"Boxes: {run_folder / 'boxes.json'}\n" in done.stdout
    assert "  :car: & <b>: 2 photos, " in done.stdout
    boxes = json.loads((run_folder / "boxes.json").read_text(encoding="utf-8"))
    assert {entry["file_name"] for entry in boxes["images"]} == set(names)
    assert ":car: &amp; &lt;b&gt;</h2>" in (run_folder / "report.html").read_text(encoding="utf-8")
    exported = run_here("export", run_folder, "--to", "yolo,voc", "-o", tmp_path / "out")
    assert exported.returncode == 0, exported.stderr
    images, labels = ({path.stem for path in (tmp_path / "out" / "yolo" / kind).rglob("*.*")} for kind in LISTS)
    assert len(images) == len(names)
    assert images == labels
    assert all(re.fullmatch(r"\d( [\d.]+){4}\n", path.read_text()) for path in (tmp_path / "out").rglob("train/*.txt"))
    listed = (tmp_path / "out" / "voc" / "ImageSets" / "Main" / "trainval.txt").read_text(encoding="utf-8").split("\n")
    assert len(listed) == len(names) + 1
    for path in (tmp_path / "out" / "voc" / "Annotations").iterdir():
        named = ET.parse(path).getroot().findtext("filename")
        assert named is not None
        assert (tmp_path / "out" / "voc" / "JPEGImages" / named).is_file()


LISTS = ("images", "labels")


# Tables


def test_tables_with_other_columns(tmp_path: Path) -> None:
    put(tmp_path, {"a.jpg": "dog-1.jpg"})
    (tmp_path / "metadata.csv").write_text("image,label\na.jpg,dog\n")
    refused(run_here("localize", tmp_path, "-o", tmp_path / "run"), "'image', 'label'", "file_name,tags")


def test_tables_in_another_encoding(tmp_path: Path) -> None:
    put(tmp_path, {"a.jpg": "dog-1.jpg"})
    (tmp_path / "metadata.csv").write_bytes("file_name,tags\na.jpg,Tür\n".encode("latin-1"))
    refused(run_here("localize", tmp_path, "-o", tmp_path / "run"), "metadata.csv", "UTF-8")


def test_tables_that_name_what_is_not_there(tmp_path: Path) -> None:
    put(tmp_path, {"a.jpg": "dog-1.jpg"})
    (tmp_path / "metadata.csv").write_text("file_name,tags\na.jpg,dog\nb.jpg,dog\n")
    refused(run_here("localize", tmp_path, "-o", tmp_path / "run"), "b.jpg", "line 3")


# Class files


def test_classes_that_are_not_there_or_not_ours(tmp_path: Path, classes: Path) -> None:
    before = classes.read_bytes()
    refused(run_here("classes", "remove", classes, "cup"), "there is no class 'cup'", "one of mug")
    assert classes.read_bytes() == before
    foreign = tmp_path / "foreign.classes"
    save_classes(foreign, ClassSet("extractor-2", load_classes(classes).classes))
    refused(run_here("detect", foreign, PHOTOS), "foreign.classes was made with the extractor extractor-2")
    photos = put(tmp_path / "photos", {"dog/a.jpg": "dog-1.jpg", "dog/b.jpg": "dog-2.jpg"})
    added = run_here("fit", photos, "--add-to", foreign, "-o", tmp_path / "new.classes")
    refused(added, "foreign.classes was made with the extractor extractor-2")
    assert "Looking" not in added.stdout  # said before any work
    refused(run_here("detect", PHOTOS / "dog-1.jpg", PHOTOS), "dog-1.jpg cannot be read as classes")
    refused(run_here("classes", "list", tmp_path / "nowhere"), "nowhere cannot be read as classes")


# Disks


def no_room(path: Path) -> None:
    raise OSError(28, "No space left on device", str(path))


@pytest.mark.parametrize("command", ["localize", "fit", "detect", "merge", "remove"])
def test_a_full_disk(command: str, tmp_path: Path, classes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    photos = put(tmp_path / "photos", {"dog/a.jpg": "dog-1.jpg", "dog/b.jpg": "dog-2.jpg"})
    Image.new("RGB", (30, 20)).save(tmp_path / "small.png")
    arguments = {
        "localize": ("localize", photos, "-o", tmp_path / "run"),
        "fit": ("fit", photos, "-o", tmp_path / "new.classes"),
        "detect": ("detect", classes, tmp_path / "small.png", "-o", tmp_path / "results.json"),
        "merge": ("classes", "merge", classes, "-o", tmp_path / "new.classes"),
        "remove": ("classes", "remove", classes, "mug"),
    }[command]
    before = classes.read_bytes()
    monkeypatch.setattr("tag2box.files.sync", no_room)
    refused(run_here(*arguments), "No space left on device")
    assert classes.read_bytes() == before
    for name in ("new.classes", "results.json", "run/boxes.json"):
        assert not (tmp_path / name).exists()
    assert not list(tmp_path.rglob("*.part"))


def test_a_disk_that_fills_up_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    photos = put(tmp_path / "photos", {"dog/a.jpg": "dog-1.jpg", "dog/b.jpg": "dog-2.jpg"})
    command = ("localize", photos, "-o", tmp_path / "run")
    for name in ("shard", "boxes", "report"):
        with monkeypatch.context() as patch:
            patch.setattr("tag2box.files.sync", lambda path, name=name: no_room(path) if name in path.name else None)
            refused(run_here(*command), "No space left on device", "what to do: make room")
    assert run_here(*command).returncode == 0
    assert (tmp_path / "run" / "report.html").is_file()


def test_outputs_that_cannot_be_made_are_refused_before_the_work(tmp_path: Path, classes: Path) -> None:
    photos = put(tmp_path / "photos", {"dog/a.jpg": "dog-1.jpg", "dog/b.jpg": "dog-2.jpg"})
    (tmp_path / "file").write_text("")
    below = tmp_path / "file" / "below"
    for command in (
        ("localize", photos, "-o", below),
        ("fit", photos, "-o", below / "my.classes"),
        ("detect", classes, photos, "-o", below / "results.json"),
        ("detect", classes, photos, "--draw", below),
        ("classes", "merge", classes, "-o", below / "my.classes"),
    ):
        done = run_here(*command)
        refused(done, "Not a directory")
        assert "Looking" not in done.stdout
        assert "nothing known" not in done.stdout


@pytest.mark.parametrize("command", ["fit", "detect", "classes merge", "classes remove"])
def test_a_folder_where_a_file_should_go(command: str, tmp_path: Path, classes: Path) -> None:
    given: dict[str, list[str | Path]] = {"fit": [PHOTOS], "detect": [classes, PHOTOS], "classes merge": [classes]}
    done = run_here(*command.split(), *given.get(command, [classes, "mug"]), "-o", tmp_path)
    assert done.returncode == 2
    assert "is a directory" in re.sub(r"[\s│]+", " ", done.stderr)
    assert "Traceback" not in done.stderr


def test_a_folder_that_may_not_be_written(tmp_path: Path, classes: Path) -> None:
    (tmp_path / "mine").mkdir()
    forbid(tmp_path / "mine", os.W_OK)
    refused(run_here("localize", PHOTOS, "-o", tmp_path / "mine" / "run"), "Permission denied")
    refused(run_here("classes", "merge", classes, "-o", tmp_path / "mine" / "new"), "Permission denied")


# Ctrl-C

STOPPED_WORDS = "Stopped. What is done stays; the same command goes on from there.\n"
TAKES_CONTROL_C = """
import signal
from tag2box.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the shell around the tests does with it
main()
"""


def press_after(seen: re.Pattern[bytes], presses: int, *arguments: str | Path) -> CompletedProcess[str]:
    """How a command on a terminal ends if Ctrl-C is pressed as soon as it shows what we wait for."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", TAKES_CONTROL_C, *map(str, arguments)]
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.PIPE, text=True, env=environment) as process:
        os.close(theirs)
        shown = b""
        while not seen.search(shown):
            shown += os.read(ours, 65536)  # an error if the command has ended
        for _ in range(presses):
            process.send_signal(signal.SIGINT)
        with contextlib.suppress(OSError):  # how Linux says that the other side is closed
            while os.read(ours, 65536):
                pass
        _, complained = process.communicate(timeout=60)
    os.close(ours)
    return CompletedProcess(command, process.returncode, shown.decode(errors="replace"), complained)


@pytest.mark.parametrize("presses", [1, 2])
def test_control_c_while_looking_at_photos_loses_nothing(presses: int, tmp_path: Path) -> None:
    names = {f"dog/{number:02}.jpg": f"dog-{1 + number % 6}.jpg" for number in range(40)}
    photos, run_folder = put(tmp_path / "photos", names), tmp_path / "run"
    stopped = press_after(re.compile(rb"[1-9]\d*/40"), presses, "localize", photos, "-o", run_folder)
    assert (stopped.returncode, stopped.stderr) == (130, STOPPED_WORDS), stopped.stdout
    assert not (run_folder / "boxes.json").exists()
    done_before = FeatureStore(run_folder / "features").image_ids
    assert 0 < len(done_before) < len(names)
    kept = len(done_before) + 2
    for name in list(names)[kept:]:  # the rest is soon done
        (photos / name).unlink()
    finished = run_here("localize", photos, "-o", run_folder)
    assert finished.returncode == 0, finished.stderr
    assert FeatureStore(run_folder / "features").image_ids == tuple(names)[:kept]
    assert len(list((run_folder / "features").glob("shard-*"))) == 2  # what was done stayed as it was
    assert len(json.loads((run_folder / "boxes.json").read_text())["images"]) == kept


@pytest.mark.parametrize(
    "asked",
    [
        ("measure", "corrections", "nowhere", "--truth", "boxes.json", "--picture", "words.gif"),
        ("bench", "trust", "--data", "nowhere", "--store", "nowhere", "-o", "trust.gif"),
    ],
)
def test_a_chart_of_another_kind_is_refused_before_the_work(
    tmp_path: Path, asked: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nowhere").mkdir()
    (tmp_path / "boxes.json").touch()
    refused(run_here(*asked), "a chart cannot be written to", ".gif", ".svg or .png")

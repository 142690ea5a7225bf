"""Which files are photos, what they are called, and what is said of those that cannot be opened here."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tag2box.data import find_photos, photo_files, read_tags
from tag2box.data.photo_files import (
    expand_places,
    is_photo,
    photo_endings,
    photo_size,
    say_skipped,
    skipped_photos,
)
from tag2box.errors import PhotoError, TagsError

Write = Callable[[Mapping[str, str | bytes]], Path]
NAMES = st.lists(
    st.sampled_from(["a", "b", "a/a", "b/a", "a/b/a", "b/b/a", "a/a/a"]), min_size=1, max_size=7, unique=True
)


@pytest.fixture(autouse=True)
def without_heif(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Tests begin as if the package for HEIC were not installed, and leave nothing behind."""
    extensions = dict(Image.registered_extensions())
    monkeypatch.setattr(Image, "EXTENSION", {e: kind for e, kind in extensions.items() if kind not in {"HEIF", "AVIF"}})
    monkeypatch.setitem(sys.modules, "pi_heif", None)
    forget()
    yield
    forget()


def forget() -> None:
    photo_files.open_heif.cache_clear()
    photo_endings.cache_clear()


def ids(*places: Path) -> list[str]:
    return [photo.image_id for photo in find_photos(places)]


def test_folders_are_searched_and_ids_are_paths_from_there(write: Write) -> None:
    place = write(dict.fromkeys(("a.jpg", "b.png", "deep er/a.jpg", "deep er/ü '\"\n🦝.webp", "notes.txt"), ""))
    assert ids(place) == ["a.jpg", "b.png", "deep er/a.jpg", "deep er/ü '\"\n🦝.webp"]
    assert ids(place / "b.png", place / "b.png", place / "deep er" / ".." / "b.png") == ["b.png"]
    assert ids(place, place / "deep er") == ids(place)


def test_two_photos_of_one_name_are_told_apart_by_their_folders(write: Write) -> None:
    place = write(dict.fromkeys(("one/x/a.jpg", "two/x/a.jpg", "two/y/a.jpg", "two/b.jpg"), ""))
    assert ids(place / "two/x/a.jpg", place / "two/y/a.jpg", place / "two/b.jpg") == ["x/a.jpg", "y/a.jpg", "b.jpg"]
    assert ids(place / "one/x/a.jpg", place / "two/x/a.jpg") == ["one/x/a.jpg", "two/x/a.jpg"]
    assert ids(place / "one", place / "two/x") == ["x/a.jpg", "a.jpg"]
    assert ids(place / "two/x", place / "two/y") == ["x/a.jpg", "y/a.jpg"]


@given(NAMES)
def test_every_photo_has_an_id_of_its_own_that_ends_its_path(names: list[str]) -> None:
    named = {Path("/photos", f"{name}.jpg"): 1 for name in names}
    told = photo_files._told_apart(named)
    assert list(told) == list(named)
    assert len(set(told.values())) == len(names)
    assert all(path.as_posix().endswith(f"/{image_id}") for path, image_id in told.items())


def test_hidden_files_are_no_photos_for_anybody(write: Write) -> None:
    """Another system's ``._a.jpg`` beside a photo holds no picture."""
    place = write(dict.fromkeys(("dog/a.jpg", "dog/._a.jpg", "dog/.thumbs/b.jpg", ".trash/c.jpg"), ""))
    assert ids(place) == [photo.name for photo in read_tags(place).photos] == ["dog/a.jpg"]
    assert ids(place / "dog") == ["a.jpg"]
    assert ids(place / "dog" / "._a.jpg") == ["._a.jpg"]  # who names it means it


def test_places_without_photos_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(PhotoError, match="there is no picture in"):
        find_photos([tmp_path / "empty"])
    with pytest.raises(PhotoError, match="there is nothing at"):
        find_photos([tmp_path / "nowhere"])


def test_patterns_are_expanded_and_names_that_exist_are_not(tmp_path: Path) -> None:
    for name in ("a.jpg", "b.jpg", "c[1].jpg"):
        (tmp_path / name).touch()
    assert expand_places([str(tmp_path / "?.jpg")]) == [tmp_path / "a.jpg", tmp_path / "b.jpg"]
    assert expand_places([str(tmp_path / "c[1].jpg")]) == [tmp_path / "c[1].jpg"]
    assert expand_places([str(tmp_path / "z*.jpg")]) == [tmp_path / "z*.jpg"]


def test_photos_that_cannot_be_opened_here_are_named_and_the_others_are_found(write: Write) -> None:
    place = write(dict.fromkeys(("dog/a.jpg", "dog/b.HEIC", "dog/c.heif", "dog/.d.heic", "dog/e.txt"), ""))
    skipped = [place / "dog/b.HEIC", place / "dog/c.heif"]
    assert ids(place) == ["dog/a.jpg"]
    assert ids(place / "dog/a.jpg", place / "dog/b.HEIC") == ["a.jpg"]
    assert skipped_photos([place, place / "dog"]) == skipped
    assert skipped_photos([place / "dog/b.HEIC", place / "dog/a.jpg"]) == skipped[:1]
    assert list(read_tags(place).skipped) == skipped
    assert say_skipped(skipped) == "2 files are HEIC or HEIF, which needs pip install 'tag2box[heic]': b.HEIC, c.heif."
    assert say_skipped(skipped[:1]).startswith("1 file is HEIC")
    assert say_skipped([]) == ""


def test_photos_that_cannot_be_opened_here_are_named_in_every_layout(write: Write) -> None:
    yolo = write({"y/images/a.jpg": "", "y/images/b.heic": "", "y/labels/a.txt": "0 0 0 1 1"}) / "y"
    write({"y/data.yaml": "train: images\nnames: [dog]"})
    dog = "<annotation><object><name>dog</name></object></annotation>"
    write({"v/Annotations/a.xml": dog, "v/JPEGImages/a.jpg": "", "v/JPEGImages/b.heic": ""})
    assert [path.name for path in read_tags(yolo).skipped] == ["b.heic"]
    assert [path.name for path in read_tags(yolo.with_name("v")).skipped] == ["b.heic"]


def test_where_no_other_photo_is_the_way_to_read_them_is_said(write: Write) -> None:
    place = write({"dog/a.heic": "", "dog/b.heic": "", "cat/c.jpg": ""})
    with pytest.raises(PhotoError, match=r"that can be opened here\.[\s\S]*2 files are HEIC .*tag2box\[heic\]"):
        find_photos([place / "dog"])
    with pytest.raises(TagsError, match=r"dog' has files such as 'a\.heic', and no photo[\s\S]*tag2box\[heic\]"):
        read_tags(place)


def test_with_the_package_they_are_photos_like_others(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def register() -> None:
        monkeypatch.setitem(Image.EXTENSION, ".heic", "PNG")

    package: Any = ModuleType("pi_heif")
    package.register_heif_opener = register
    monkeypatch.setitem(sys.modules, "pi_heif", package)
    forget()
    place = write({"dog/a.heic": "", "dog/b.jpg": ""})
    assert ids(place) == ["dog/a.heic", "dog/b.jpg"]
    assert is_photo(place / "dog/a.heic")
    assert (skipped_photos([place]), read_tags(place).skipped) == ([], ())


@pytest.mark.parametrize(("orientation", "size"), [(1, (20, 30)), (6, (30, 20))])
def test_the_size_of_a_photo_is_that_of_the_upright_one(
    tmp_path: Path, orientation: int, size: tuple[int, int]
) -> None:
    exif = Image.Exif()
    exif[photo_files.ORIENTATION] = orientation
    Image.new("RGB", (30, 20)).save(tmp_path / "a.jpg", exif=exif)
    assert photo_size(tmp_path / "a.jpg") == size


def test_a_photo_without_a_size_is_named(write: Write) -> None:
    place = write({"a.jpg": "broken"})
    for name in ("a.jpg", "gone.jpg"):
        with pytest.raises(PhotoError, match=rf"how large the photo .*{name} is"):
            photo_size(place / name)


def test_folders_that_are_links_are_not_followed(write: Write) -> None:
    place = write({"photos/a.jpg": "", "elsewhere/b.jpg": ""})
    os.symlink(place / "elsewhere", place / "photos" / "link")
    assert ids(place / "photos") == ["a.jpg"]

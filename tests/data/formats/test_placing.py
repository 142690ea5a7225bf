"""Names in an export are safe, and no two photos share one."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tag2box.data.formats.placing import LONGEST_STEM, NOT_IN_LISTS, flat_names, tree_names

PATHS = st.lists(st.text(min_size=1, max_size=20), max_size=8, unique=True)


@pytest.mark.parametrize(
    ("names", "flat"),
    [
        (["cup/a b.jpg", "pen/a b.jpg"], ["cup__a_b.jpg", "pen__a_b.jpg"]),
        (["a.jpg", "a.png", "A.webp"], ["a.jpg", "a-2.png", "A-3.webp"]),
        (["a/b.jpg", "a__b.jpg", "a__b-2.jpg"], ["a__b.jpg", "a__b-2.jpg", "a__b-2-2.jpg"]),
        (["new\nline.jpg", 'é "q" 😀.jpg'], ["new_line.jpg", "é__q__😀.jpg"]),
        (
            [".hidden.jpg", "#1.jpg", "/photos/x.jpg", "../y.jpg"],
            ["_hidden.jpg", "_1.jpg", "photos__x.jpg", "___y.jpg"],
        ),
    ],
)
def test_flat_names_show_the_folder(names: list[str], flat: list[str]) -> None:
    assert flat_names(names) == flat


def test_names_in_a_tree_stay_as_they_are_where_they_can() -> None:
    names = ["cup/a b.jpg", "cup/a b.png", 'new\nline/é "q" 😀.jpg', "it's 100 % <b> & #1.jpg"]
    assert tree_names(names) == names


def test_no_name_leads_out_of_the_export() -> None:
    assert tree_names(["../../a.jpg", "/etc/a.jpg", "b/../a.jpg", "bell\a.jpg"]) == [
        "_/_/a.jpg",
        "etc/a.jpg",
        "b/_/a.jpg",
        "bell_.jpg",
    ]


def test_a_long_path_becomes_a_name_that_a_disk_takes() -> None:
    (flat,) = flat_names([f"{'é' * 100}/{'ü' * 100}/photo.jpg"])
    assert flat.endswith("ü__photo.jpg")
    assert len(PurePosixPath(flat).stem.encode()) <= LONGEST_STEM


@given(PATHS)
def test_flat_names_are_files_of_their_own(names: list[str]) -> None:
    flat = flat_names(names)
    stems = [PurePosixPath(name).stem.casefold() for name in flat]
    assert len(set(stems)) == len(names)
    assert not any("/" in name or NOT_IN_LISTS.search(name) for name in flat)


@given(PATHS)
def test_tree_names_are_paths_of_their_own_inside(names: list[str]) -> None:
    tree = tree_names(names)
    assert len({name.casefold() for name in tree}) == len(names)
    assert not any(PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts for name in tree)


@given(PATHS)
def test_names_do_not_depend_on_what_comes_after(names: list[str]) -> None:
    assert flat_names(names)[:3] == flat_names(names[:3])
    assert tree_names(names)[:3] == tree_names(names[:3])

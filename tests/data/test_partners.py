"""A photo finds itself in the truth under another path, and never another photo if itself is there."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tag2box.data import Dataset, DatasetImage
from tag2box.data.formats.placing import flat_names
from tag2box.data.partners import find_partners, require_same_size
from tag2box.errors import RunError

STEPS = st.sampled_from(["a", "b", "c d"])
NAMES = st.lists(st.lists(STEPS, min_size=1, max_size=3).map("/".join), min_size=1, max_size=8, unique=True)


def truth_of(names: list[str], root: str = "/truth") -> Dataset:
    return Dataset((), tuple(DatasetImage.build(Path(root, name), name, (20, 30), []) for name in names))


def partners(names: list[str], truth: Dataset) -> list[str | None]:
    return [image and image.image_id for image in find_partners(names, truth)]


@given(NAMES)
def test_the_same_names_are_partners(names: list[str]) -> None:
    assert partners(names, truth_of(names)) == names


@given(NAMES)
def test_names_without_folders_are_partners(names: list[str]) -> None:
    photos = [f"photos/{name}.jpg" for name in names]
    assert partners(photos, truth_of(flat_names(photos))) == flat_names(photos)
    folders = truth_of([f"{number % 2}/{name}" for number, name in enumerate(flat_names(photos))])  # train and val
    assert [found and found[2:] for found in partners(photos, folders)] == flat_names(photos)


def test_whoever_shares_more_of_the_path_is_the_partner() -> None:
    assert partners(["cup/1.jpg", "pen/1.jpg"], truth_of(["pen/1.jpg", "x.jpg"])) == [None, "pen/1.jpg"]
    assert partners(["pen/1.jpg", "cup/1.jpg"], truth_of(["pen/1.jpg"])) == ["pen/1.jpg", None]
    assert partners(["1.jpg", "pen/1.jpg"], truth_of(["pen/1.jpg"])) == [None, "pen/1.jpg"]
    assert partners(["a/1.jpg", "b/1.jpg", "pen/1.jpg"], truth_of(["pen/1.jpg"])) == [None, None, "pen/1.jpg"]
    assert partners(["cup/2.jpg"], truth_of(["pen/1.jpg"])) == [None]
    assert partners([], truth_of([])) == []
    assert partners(["a.jpg"], truth_of([])) == [None]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["v/a.jpg"], "'v/a.jpg' looks like both /truth/x/a.jpg and /truth/y/a.jpg"),
        (["v/b.jpg", "w/b.jpg"], "'v/b.jpg' and 'w/b.jpg' both look like /truth/x/b.jpg"),
    ],
)
def test_what_cannot_be_told_apart_is_refused(names: list[str], message: str) -> None:
    with pytest.raises(RunError, match=message):
        find_partners(names, truth_of(["x/a.jpg", "y/a.jpg", "x/b.jpg"]))


def test_a_partner_has_the_same_size() -> None:
    (image,) = truth_of(["a.jpg"]).images
    require_same_size("a.jpg", (20, 30), image)
    with pytest.raises(RunError, match=r"'a\.jpg' is 20 x 30 pixels large, /truth/a\.jpg of the truth 30 x 20"):
        require_same_size("a.jpg", (30, 20), image)

"""Several classes in the same photos: what photos of other things teach, and that two things are not in one place."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
import pytest

from planted_model import planted_model
from samples import random_units, unit
from tag2box.arrays import Array
from tag2box.methods.spread import Spread
from tag2box.product.album import MemoryBags
from tag2box.product.events import Event, Learned
from tag2box.product.finding import MOST_WITHOUT, Found, find_classes
from tag2box.types import ProposalBag

D = 64
SPREAD = Spread(np.zeros(D), np.eye(D) / D)
MODEL = planted_model(D, SPREAD, axes=30.0)
WHOLE = [0, 0, 100, 100]
HERE, THERE = (10, 10, 40, 40), (60, 10, 90, 40)
MUG, PEN = np.eye(D)[:2]


class Thing(NamedTuple):
    """What a region looks like, and how much noise is on it."""

    look: Array
    noise: float = 0.1


Things = Mapping[tuple[int, int, int, int], Thing]
"""By their places."""


def photo(name: str, things: Things, rng: np.random.Generator) -> ProposalBag:
    """The whole, which is like no other, things at their places, and five regions of no kind below them."""
    rows = [thing.look + thing.noise * random_units(rng, 1, D)[0] for thing in things.values()]
    boxes = [WHOLE, *map(list, things), *([10 * n, 80, 10 * n + 9, 90] for n in range(5))]
    features = [*random_units(rng, 1, D), *map(unit, rows), *random_units(rng, 5, D)]
    return ProposalBag.from_raw(name, boxes, np.stack(features), np.full(len(boxes), 0.5))


def photos(**things: Things) -> MemoryBags:
    rng = np.random.default_rng(0)
    return MemoryBags({name: photo(name, content, rng) for name, content in things.items()})


MUG_ALONE, PEN_ALONE = {HERE: Thing(MUG)}, {THERE: Thing(PEN)}
BOTH = {HERE: Thing(MUG + 0.2 * PEN), THERE: Thing(PEN, 0.9)}
"""A mug with a touch of the pen beside it, which is the fainter one."""
BAGS = photos(a=MUG_ALONE, b=MUG_ALONE, c=MUG_ALONE, d=BOTH, e=BOTH, f=BOTH)
TAGS: dict[str, set[str]] = {name: {"mug"} for name in "abc"} | {name: {"mug", "pen"} for name in "def"}


def places(found: Found) -> dict[str, dict[str, tuple[int, ...]]]:
    """Tag → photo → box."""
    return {
        one.label: {name: tuple(map(round, box.box)) for name, box in zip(one.photos, one.boxes, strict=True)}
        for one in found.learned
    }


def learned_anew(tags: Mapping[str, Collection[str]], bags: MemoryBags, before: Found) -> tuple[Found, list[str]]:
    """What is found, and which classes were learned for it."""
    heard: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, Learned):
            heard.append(event.label)

    return find_classes(tags, bags, MODEL, listen, before=before), heard


@pytest.fixture(scope="module")
def found() -> Found:
    return find_classes(TAGS, BAGS, MODEL)


# One thing, one name


def test_two_classes_that_want_one_place_are_settled(found: Found) -> None:
    """In all photos of the pen a mug is clearer, and so the pen alone would be the mug."""
    mug, pen = found.alone
    assert [box.box for box in pen.boxes] == [HERE] * 3
    assert places(found) == {"mug": dict.fromkeys("abcdef", HERE), "pen": dict.fromkeys("def", THERE)}
    assert found.learned[0] is mug  # who stays is not learned again
    assert set(found.learned[1].lesson.taken) == set("def")
    assert not mug.lesson.taken


def test_the_film_of_a_class_that_moved_ends_where_it_is(found: Found) -> None:
    pen = found.learned[1]
    assert pen.film.shape == (len(pen.likelihoods), 3, 4)
    assert pen.film[-1].tolist() == [list(box.box) for box in pen.boxes]


def test_what_nothing_has_changed_in_is_not_learned_again(found: Found) -> None:
    again, heard = learned_anew(TAGS, BAGS, found)
    assert heard == []
    for before, after in ((found.alone, again.alone), (found.learned, again.learned)):
        assert all(one is other for one, other in zip(before, after, strict=True))


def test_only_what_has_changed_is_learned_again(found: Found) -> None:
    """A photo more of the pen alone: what the mug is not has changed too. A photo less of both: everything."""
    rng = np.random.default_rng(7)
    more = MemoryBags({name: BAGS.bag(name) for name in TAGS} | {"g": photo("g", PEN_ALONE, rng)})
    other, heard = learned_anew(TAGS | {"g": {"mug", "pen"}}, more, found)
    assert set(heard) == {"mug", "pen"}
    same, heard = learned_anew(TAGS, more, found)  # it is there, and nobody has tagged it
    assert heard == []
    assert places(same) == places(found)
    _, heard = learned_anew(TAGS, BAGS, other)
    assert set(heard) == {"mug", "pen"}


def test_a_class_that_has_to_make_room_somewhere_else_is_learned_again(found: Found) -> None:
    """The pen gets a place of its own in one photo: what the mug has learned stays."""
    clear = MemoryBags({name: BAGS.bag(name) for name in TAGS})
    told = find_classes(TAGS, clear, MODEL, regions={"pen": {"d": 2}}, before=found)
    assert told.learned[0] is found.learned[0]
    assert places(told)["pen"] == dict.fromkeys("def", THERE)
    assert "d" not in told.learned[1].lesson.taken


def test_where_a_person_has_pointed_nothing_else_is() -> None:
    """Nothing else looks like a mug at all, and the place is the pen's all the same, whichever is named first."""
    sharp = planted_model(D, SPREAD, axes=40.0)
    for label in ("apple", "pen"):
        bags = photos(a=MUG_ALONE, b=MUG_ALONE, c=MUG_ALONE, x=MUG_ALONE, y=PEN_ALONE, z=PEN_ALONE)
        tags = {name: {"mug"} for name in "abc"} | {"x": {"mug", label}, "y": {label}, "z": {label}}
        before = find_classes(tags, bags, sharp)
        assert places(before)["mug"]["x"] == HERE
        told = find_classes(tags, bags, sharp, regions={label: {"x": 1}}, before=before)
        assert places(told)[label]["x"] == HERE
        assert places(told)["mug"]["x"] != HERE
        assert places(told)["mug"]["a"] == HERE
        known = next(one for one in told.learned if one.label == label)
        assert known.boxes[0].doubt == 0.0
        assert not known.lesson.taken  # and it has to make room for nobody


def test_two_things_that_a_person_sees_in_one_place_are_both_there() -> None:
    told = find_classes(TAGS, BAGS, MODEL, regions={"mug": {"d": 1}, "pen": {"d": 1}})
    assert places(told)["mug"]["d"] == places(told)["pen"]["d"] == HERE


def test_a_class_with_a_drawn_box_can_make_room_in_other_photos() -> None:
    """The drawn box is one region more than the photo had when places were shared out, and nobody else's."""
    place = (60, 50, 90, 75)
    like_a_mug = photo("d", {place: Thing(MUG)}, np.random.default_rng(3))
    drawn = ProposalBag.from_raw("d", like_a_mug.boxes[:2], like_a_mug.features[:2], like_a_mug.objectness[:2])
    told = find_classes(TAGS, BAGS, MODEL, regions={"pen": {"d": drawn}, "mug": {"e": 1, "f": 1}})
    assert set(told.learned[1].lesson.taken) == set("def")
    assert places(told)["pen"]["d"] == place
    assert told.learned[1].boxes[0].doubt == 0.0
    for name in "ef":
        assert places(told)["mug"][name] == HERE
        assert places(told)["pen"][name] != HERE


# What a thing is not


def test_photos_of_other_things_tell_what_a_thing_is_not() -> None:
    """Mugs and pens lie in all photos of the thing, the pens clearer; photos of pens alone make it the mug."""
    both, pen = {HERE: Thing(MUG, 0.5), THERE: Thing(PEN)}, PEN_ALONE
    bags = photos(a=both, b=both, c=both, d=pen, e=pen, f=pen, g={HERE: Thing(PEN)})
    tags: dict[str, set[str]] = {name: {"thing"} for name in "abc"} | {name: set() for name in "defg"}
    expected = {0.0: THERE, 4.0: HERE}
    for weight, place in expected.items():
        model = planted_model(D, SPREAD, axes=12.0, rivalry_weight=weight)
        assert places(find_classes(tags, bags, model))["thing"] == dict.fromkeys("abc", place), weight


def without(tags: Mapping[str, Collection[str]], label: str) -> list[str]:
    """Photos that a class was learned against."""
    rng = np.random.default_rng(1)
    bags = MemoryBags({name: photo(name, MUG_ALONE, rng) for name in tags})
    found = find_classes(tags, bags, MODEL)
    return list(next(one for one in found.learned if one.label == label).lesson.without)


def test_some_photos_without_the_tag_are_asked_and_one_more_displaces_one_at_most() -> None:
    tags: dict[str, set[str]] = {f"{n}.jpg": {"mug"} if n < 3 else {"pen"} if n < 9 else set() for n in range(40)}
    mug, pen = without(tags, "mug"), without(tags, "pen")
    assert len(mug) == len(set(mug)) == len(pen) == MOST_WITHOUT == 24
    assert not any("mug" in tags[name] for name in mug)
    assert any("pen" in tags[name] for name in mug)
    assert not any("pen" in tags[name] for name in pen)
    assert mug == [name for name in tags if name in mug]  # in the order of the photos
    assert mug[::-1] == without(dict(reversed(tags.items())), "mug")  # which decides nothing else
    displaced = []
    for n in range(40, 46):
        more = without(tags | {f"{n}.jpg": set()}, "mug")
        assert [name for name in more if name in mug] == [name for name in mug if name in more]
        displaced.append(len(set(mug) - set(more)))
    assert set(displaced) == {0, 1}


def test_where_few_photos_lack_the_tag_all_of_them_are_asked(found: Found) -> None:
    mug, pen = found.alone
    assert mug.lesson.without == ()
    assert set(pen.lesson.without) == set("abc")

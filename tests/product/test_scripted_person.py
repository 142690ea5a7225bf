"""A person who corrects: only wrong boxes, each once; right boxes are passed over."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from planted_decoys import DECEIVED, THING, by_hand
from tag2box.boxes import box_overlaps
from tag2box.product import scripted_person
from tag2box.product.finding import Found, find_classes
from tag2box.product.scripted_person import BY_CHANCE, BY_DOUBT, Helped, ScriptedPerson, errors_gone
from tag2box.progress import silent


def test_where_all_is_right_there_is_nothing_to_say(tmp_path: Path) -> None:
    looks = {label: (None, decoy) for label, (decoy, _) in DECEIVED.items()}
    (helped,) = ScriptedPerson(*by_hand(tmp_path / "store", looks, THING), 2).help(6, 1, BY_DOUBT, silent)
    np.testing.assert_array_equal(helped.right, [1.0, 1.0, 1.0])
    assert helped.looks == 0
    assert len(helped.offered) == len(helped.clicked) == 0


@pytest.mark.parametrize("order", [BY_DOUBT, BY_CHANCE])
def test_a_few_words_put_deceived_photos_right(tmp_path: Path, order: str) -> None:
    reported: list[int] = []
    person = ScriptedPerson(*by_hand(tmp_path / "store", DECEIVED), 3)
    helped = person.help(4, 2, order, lambda done, figures: reported.append(done))
    assert reported == [1, 2]
    assert [each.right[0] for each in helped] == [0.0, 0.0]
    assert errors_gone(helped) > 0.5
    assert all((each.offered == 1.0).all() and len(each.offered) == 8 for each in helped)
    assert all(len(each.clicked) == 8 and 0.5 < each.clicked.mean() <= 1.0 for each in helped)


def test_one_more_word_each_time_and_it_points_at_the_best_region(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset, store, model = by_hand(tmp_path / "store", DECEIVED)
    images = {image.image_id: image for image in dataset.images}
    said: list[set[tuple[str, str, int]]] = []

    def find(*args: Any, **kwargs: Any) -> Found:
        said.append({(p, label, row) for label, some in kwargs.get("regions", {}).items() for p, row in some.items()})
        return find_classes(*args, **kwargs)

    monkeypatch.setattr(scripted_person, "find_classes", find)
    ScriptedPerson(dataset, store, model, 2).help(4, 1, BY_DOUBT, silent)
    assert [len(words) for words in said] == [0, 1, 2]
    assert all(earlier < later for earlier, later in pairwise(said))
    for photo, label, row in said[-1]:
        overlaps = box_overlaps(store.bag(photo).boxes, images[photo].truth.of_class(label).boxes).max(axis=1)
        assert overlaps[row] == overlaps.max()


def test_what_was_put_right_is_a_share_of_what_was_wrong() -> None:
    assert errors_gone([helped(0.5, 0.75), helped(0.9, 0.95)]) == pytest.approx(0.5)
    assert errors_gone([helped(1.0, 1.0)]) == 0.0
    assert errors_gone([helped(0.8, 0.6)]) == pytest.approx(-1.0)


def helped(*right: float) -> Helped:
    return Helped(np.array(right), 1, np.empty(0), np.empty(0))

"""Learning a class with what a person said: twice, and the end of which less is doubted counts."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from planted_decoys import DECEIVED, by_hand
from tag2box.methods.localizers import Clamps
from tag2box.product import learning
from tag2box.product.learning import LearnedClass, Lesson, learn_class


@pytest.mark.parametrize("better", [0.0, learning.LEAD])
def test_of_two_ends_the_one_with_less_doubt_counts(
    better: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, store, model = by_hand(tmp_path / "store", DECEIVED)
    leads = []

    def learned(*args: Any) -> SimpleNamespace:
        clamps: Clamps = args[-1]
        leads.append(clamps.lead)
        return SimpleNamespace(lead=clamps.lead, expected_right=3.0 if clamps.lead == better else 2.0)

    monkeypatch.setattr(learning, "_learned", learned)
    photos = tuple(f"one-{number}" for number in range(4))
    end: Any = learn_class(Lesson("one", photos, regions={"one-0": 2}), store, model)
    assert end.lead == better
    assert sorted(leads) == [0.0, learning.LEAD]


def test_where_nobody_pointed_it_is_learned_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, store, model = by_hand(tmp_path / "store", DECEIVED)
    asked = []
    plain = learning._learned

    def learned(*args: Any) -> LearnedClass:
        asked.append(args[-1].lead)
        return plain(*args)

    monkeypatch.setattr(learning, "_learned", learned)
    learn_class(Lesson("one", tuple(f"one-{number}" for number in range(4))), store, model)
    assert asked == [0.0]

"""Learning a class with what a person said: twice, and the end of which less is doubted counts."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from planted_decoys import DECEIVED, by_hand
from tag2box.methods.detectors import LikenessDetector, LikenessLearner
from tag2box.product import learning
from tag2box.product.learning import LearnedClass, Lesson, learn_class


@pytest.mark.parametrize("better", [0.0, learning.LEAD])
def test_of_two_ends_the_one_with_less_doubt_counts(
    better: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, store, model = by_hand(tmp_path / "store", DECEIVED)
    ends: dict[float, Any] = {}

    def learn_ends(self: LikenessLearner, *args: Any) -> list[LikenessDetector]:
        found = plain_ends(self, *args)
        ends.update(zip(args[-1], found, strict=True))
        return found

    def learned(*args: Any) -> SimpleNamespace:
        return SimpleNamespace(of=args[-1], expected_right=3.0 if args[-1] is ends[better] else 2.0)

    plain_ends = LikenessLearner.learn_ends
    monkeypatch.setattr(LikenessLearner, "learn_ends", learn_ends)
    monkeypatch.setattr(learning, "_learned", learned)
    photos = tuple(f"one-{number}" for number in range(4))
    end: Any = learn_class(Lesson("one", photos, regions={"one-0": 2}), store, model)
    assert end.of is ends[better]
    assert sorted(ends) == [0.0, learning.LEAD]


def test_where_nobody_pointed_it_is_learned_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, store, model = by_hand(tmp_path / "store", DECEIVED)
    asked = []
    plain = learning._learned

    def learned(*args: Any) -> LearnedClass:
        asked.append(args[-1])
        return plain(*args)

    monkeypatch.setattr(learning, "_learned", learned)
    learn_class(Lesson("one", tuple(f"one-{number}" for number in range(4))), store, model)
    assert len(asked) == 1

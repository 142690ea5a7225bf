"""The list of sabotages stays in step with the code; ``make sabotage`` runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sabotage import ROOT, Sabotage, load_sabotages

SABOTAGES = load_sabotages()


def test_there_are_enough_of_them_with_names_of_their_own() -> None:
    assert len(SABOTAGES) >= 25
    assert len({sabotage.name for sabotage in SABOTAGES}) == len(SABOTAGES)


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda sabotage: sabotage.name)
def test_a_sabotage_can_still_be_applied(sabotage: Sabotage) -> None:
    text = (ROOT / "src" / "tag2box" / sabotage.file).read_text()
    spoiled = sabotage.spoil(text)
    assert spoiled != text
    if sabotage.file.endswith(".py"):
        compile(spoiled, sabotage.file, "exec")
    assert (ROOT / "tests" / sabotage.tests).exists()


def test_sabotages_are_spread_over_all_mathematics() -> None:
    spoiled = {Path(sabotage.file).parts[0] for sabotage in SABOTAGES}
    assert {"sphere", "methods", "evaluation", "data", "store", "boxes.py", "files.py", "rows"} <= spoiled

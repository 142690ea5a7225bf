"""Hypotheses in words: what was expected, by whom, and what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from tag2box.experiments.bench.figures_of_merit import Comparison
from tag2box.experiments.bench.specification import OURS, PAPER, Hypothesis, MoreShots
from tag2box.methods.lineup import LINEUP

WHOSE: Mapping[str, str] = MappingProxyType({PAPER: "The paper's", OURS: "Ours"})
VERDICTS = ("yes", "not decided", "no")
AFTER = " (written after the result)"


def sentence(comparison: Comparison, mark: str = "") -> str:
    """A hypothesis and what was seen, the verdict between two of ``mark``."""
    gap = comparison.difference
    return (
        f"{_said(comparison.hypothesis, comparison.ways, comparison.shots)}: {mark}{comparison.words}{mark}, "
        f"difference {100 * gap.value:+.1f} ({100 * gap.low:+.1f} … {100 * gap.high:+.1f})"
        f"{AFTER if comparison.hypothesis.after else ''}"
    )


def listed(comparisons: Sequence[Comparison], mark: str = "") -> list[str]:
    """Lines of Markdown: the paper's hypotheses, then ours."""
    lines = []
    for by, title in WHOSE.items():
        own = [f"- {sentence(comparison, mark)}" for comparison in comparisons if comparison.hypothesis.by == by]
        lines += ["", f"{title}:", "", *own] if own else []
    return lines


def counted(comparisons: Sequence[Comparison]) -> list[str]:
    """A table in Markdown: how many hypotheses of whom came to what, each counted in every cell that it is about."""
    lines = [f"| hypotheses | {' | '.join(VERDICTS)} | written after the result |", "| --- |" + " --- |" * 4]
    for by, title in WHOSE.items():
        own = [comparison for comparison in comparisons if comparison.hypothesis.by == by]
        found = Counter(comparison.words for comparison in own)
        numbers = [*(found[words] for words in VERDICTS), sum(comparison.hypothesis.after for comparison in own)]
        lines.append(f"| {title} | {' | '.join(map(str, numbers))} |")
    return lines


def _said(hypothesis: Hypothesis, ways: int, shots: int) -> str:
    if isinstance(hypothesis, MoreShots):
        title = LINEUP[hypothesis.method].title
        return f"{title} with {shots} images above {hypothesis.fewer} in {hypothesis.measure} ({ways}-way)"
    better, worse = LINEUP[hypothesis.better].title, LINEUP[hypothesis.worse].title
    return f"{better} above {worse} in {hypothesis.measure} ({ways}-way {shots}-shot)"

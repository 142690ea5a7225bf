"""Judging boxes: CorLoc, average precision and intervals. The only part that compares with the truth."""

from tag2box.evaluation.average_precision import (
    RULES,
    Rule,
    TaskMatches,
    ap_11_points,
    ap_101_points,
    ap_area,
    average_precisions,
    mean_average_precision,
    precision_recall,
)
from tag2box.evaluation.corloc import Verdict, corloc_by_class, is_correct, judge_box, macro_mean
from tag2box.evaluation.intervals import (
    Interval,
    jackknife_interval,
    mean_over_tasks,
    paired_difference,
    t_interval,
    task_bootstrap,
    without_each_group,
)
from tag2box.evaluation.matching import (
    Matcher,
    Matches,
    Pair,
    match_coco,
    match_voc,
    pool_matches,
    pooled_matches,
)
from tag2box.evaluation.recall import first_covering, recall_at, size_groups

__all__ = [
    "RULES",
    "Interval",
    "Matcher",
    "Matches",
    "Pair",
    "Rule",
    "TaskMatches",
    "Verdict",
    "ap_11_points",
    "ap_101_points",
    "ap_area",
    "average_precisions",
    "corloc_by_class",
    "first_covering",
    "is_correct",
    "jackknife_interval",
    "judge_box",
    "macro_mean",
    "match_coco",
    "match_voc",
    "mean_average_precision",
    "mean_over_tasks",
    "paired_difference",
    "pool_matches",
    "pooled_matches",
    "precision_recall",
    "recall_at",
    "size_groups",
    "t_interval",
    "task_bootstrap",
    "without_each_group",
]

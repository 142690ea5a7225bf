"""Judging boxes: CorLoc, average precision and intervals. The only part that compares with the truth."""

from tag2box.evaluation.average_precision import ap_11_points, ap_101_points, ap_area, precision_recall
from tag2box.evaluation.corloc import corloc_by_class, is_correct, macro_mean
from tag2box.evaluation.detection import Pair, average_precisions, pooled_matches
from tag2box.evaluation.intervals import Interval, mean_over_tasks, paired_difference, t_interval, task_bootstrap
from tag2box.evaluation.jackknife import jackknife_interval, without_each_group
from tag2box.evaluation.matching import Matches, match_coco, match_voc, pool_matches
from tag2box.evaluation.misses import Verdict, judge_box
from tag2box.evaluation.recall import first_covering, recall_at, size_groups
from tag2box.evaluation.task_matches import TaskMatches, mean_average_precision

__all__ = [
    "Interval",
    "Matches",
    "Pair",
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

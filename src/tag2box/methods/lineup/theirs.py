"""Theirs: every method that the paper compares with, with its own objectness or none, and with the detector's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from tag2box.methods.floors import objectness, objectness_odds
from tag2box.methods.knowledge import Knowledge
from tag2box.methods.lineup.method import Chosen, Method
from tag2box.methods.rivals import BestFirst, CommonRegions, GreedyTree, Lsda, MiMax, MiSvm, Search, Silco, Trws
from tag2box.rows import Lens

GREEDY_TREE, TRWS, ASTAR = GreedyTree(), Trws(), BestFirst()
FOLDS = 10
"""Of Uijlings et al."""
SVM_GRID = {"gamma": (0.0, 0.1, 0.25, 0.5, 1.0), "cost": (0.01, 0.1, 1.0, 10.0, 100.0)}
GUIDED_SVM_GRID = {"gamma": (0.0, 0.03, 0.06, 0.12, 0.25, 0.5, 1.0), "cost": (0.1, 1.0, 10.0, 100.0)}
MAX_GRID = {"cost": (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)}
ODDS_GRID = {"objectness_weight": (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)}
NEGATIVES_GRID = {"negatives_weight": (0.0, 0.25, 0.5, 1.0, 2.0)}
LSDA_GRID = {"nearest": (1.0, 3.0, 5.0, 10.0, 20.0, 40.0)}
LSDA_ODDS_GRID = {"objectness_weight": (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)}


def _mi_svm(known: Knowledge, chosen: Chosen) -> MiSvm:
    return MiSvm(known.objectness, chosen["gamma"], chosen["cost"], Lens(known.center))


def _guided_mi_svm(known: Knowledge, chosen: Chosen) -> MiSvm:
    """With the detector's objectness, in the choice of regions and in new images."""
    return MiSvm(objectness_odds, chosen["gamma"], chosen["cost"], Lens(known.center), ask_in_new_images=True)


def _kin_mi_svm(known: Knowledge, chosen: Chosen) -> MiSvm:
    """The same where what users get works too."""
    return replace(_guided_mi_svm(known, chosen), lens=known.kin_space.lens)


def _uijlings(known: Knowledge, chosen: Chosen) -> MiSvm:
    return replace(_mi_svm(known, chosen), folds=FOLDS)


def _guided_uijlings(known: Knowledge, chosen: Chosen) -> MiSvm:
    return replace(_guided_mi_svm(known, chosen), folds=FOLDS)


def _mi_max(known: Knowledge, chosen: Chosen) -> MiMax:
    return MiMax(objectness, chosen["cost"], known.center)


def _common_regions(known: Knowledge, chosen: Chosen, *, search: Search = GREEDY_TREE) -> CommonRegions:
    return CommonRegions(known.schooled.relations, search)


def _guided_greedy_tree(known: Knowledge, chosen: Chosen) -> CommonRegions:
    return CommonRegions(known.schooled.relations, GREEDY_TREE, chosen["objectness_weight"])


def _greedy_with_negatives(known: Knowledge, chosen: Chosen) -> CommonRegions:
    return replace(_common_regions(known, chosen), negatives_weight=chosen["negatives_weight"])


def _silco(known: Knowledge, chosen: Chosen) -> Silco:
    return Silco(known.schooled.silco, chosen.get("objectness_weight", 0.0))


def _lsda(known: Knowledge, chosen: Chosen) -> Lsda:
    weight = chosen.get("objectness_weight", 0.0)
    return Lsda(known.schooled.classifiers, int(chosen["nearest"]), weight)


THEIRS: Mapping[str, Method] = {
    "mi-svm": Method("MI-SVM", _mi_svm, SVM_GRID),
    "mi-svm-guided": Method("MI-SVM with objectness", _guided_mi_svm, GUIDED_SVM_GRID),
    "mi-svm-kin": Method("MI-SVM with objectness, along axes of kinship", _kin_mi_svm, GUIDED_SVM_GRID),
    "uijlings": Method("Uijlings et al., on our features", _uijlings, SVM_GRID),
    "uijlings-guided": Method("Uijlings et al. with objectness", _guided_uijlings, GUIDED_SVM_GRID),
    "mi-max": Method("MI-max", _mi_max, MAX_GRID),
    "greedy-tree": Method("Greedy Tree", _common_regions, schooled=True),
    "greedy-tree-guided": Method("Greedy Tree with objectness", _guided_greedy_tree, ODDS_GRID, schooled=True),
    "greedy-tree-negatives": Method(
        "Greedy Tree with negatives", _greedy_with_negatives, NEGATIVES_GRID, schooled=True
    ),
    "trws": Method("TRWS", partial(_common_regions, search=TRWS), schooled=True),
    "astar": Method("ASTAR", partial(_common_regions, search=ASTAR), schooled=True),
    "silco": Method("SILCO's modules, on our regions", _silco, schooled=True),
    "silco-guided": Method("SILCO's modules with objectness", _silco, ODDS_GRID, schooled=True),
    "lsda": Method("LSDA, on our features", _lsda, LSDA_GRID, schooled=True),
    "lsda-guided": Method("LSDA with objectness", _lsda, LSDA_ODDS_GRID, "lsda", schooled=True),
}

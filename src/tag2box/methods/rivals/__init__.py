"""Other people's methods, rebuilt from their papers, behind the same door as ours."""

from tag2box.methods.rivals.best_first import BestFirst
from tag2box.methods.rivals.common_regions import CommonRegions, CommonRegionsFit
from tag2box.methods.rivals.energies import Choice, Energy, Search
from tag2box.methods.rivals.greedy_tree import GreedyTree
from tag2box.methods.rivals.linear_svm import LinearSvm, fit_linear_svm
from tag2box.methods.rivals.lsda import BaseClassifiers, Lsda
from tag2box.methods.rivals.message_passing import Trws
from tag2box.methods.rivals.mi_max import MiMax
from tag2box.methods.rivals.mi_svm import AppearanceObjectness, MiSvm, MiSvmFit
from tag2box.methods.rivals.relations import RelationNetwork
from tag2box.methods.rivals.schooling import Schooling
from tag2box.methods.rivals.silco import Silco, SilcoNetwork

__all__ = [
    "AppearanceObjectness",
    "BaseClassifiers",
    "BestFirst",
    "Choice",
    "CommonRegions",
    "CommonRegionsFit",
    "Energy",
    "GreedyTree",
    "LinearSvm",
    "Lsda",
    "MiMax",
    "MiSvm",
    "MiSvmFit",
    "RelationNetwork",
    "Schooling",
    "Search",
    "Silco",
    "SilcoNetwork",
    "Trws",
    "fit_linear_svm",
]

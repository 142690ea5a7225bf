"""Other people's methods, rebuilt from their papers, behind the same door as ours."""

from tag2box.methods.rivals.linear_svm import LinearSvm, fit_linear_svm
from tag2box.methods.rivals.mi_svm import AppearanceObjectness, MiSvm, MiSvmFit

__all__ = ["AppearanceObjectness", "LinearSvm", "MiSvm", "MiSvmFit", "fit_linear_svm"]

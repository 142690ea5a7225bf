"""Localizers: from the bags of one class to one region in each image."""

from tag2box.methods.localizers.background_file import FittedBackground, load_background, save_background
from tag2box.methods.localizers.backgrounds import (
    NO_BACKGROUND,
    Background,
    GaussianBackground,
    MixtureBackground,
    NoBackground,
    ObjectnessBackground,
    OddsBackground,
    SummedBackground,
    VmfBackground,
    fit_gaussian_background,
)
from tag2box.methods.localizers.centering import center_bag, center_rows
from tag2box.methods.localizers.clamps import NO_CLAMPS, Clamps
from tag2box.methods.localizers.em import EmStep, e_step, m_step, run_em, run_em_from_all
from tag2box.methods.localizers.features import FeatureMap, raw_features, tukey_features, unit_features
from tag2box.methods.localizers.foregrounds import Foreground, GaussianForeground, VmfForeground
from tag2box.methods.localizers.gaussian_mil import GaussianMil
from tag2box.methods.localizers.protocol import Localizer
from tag2box.methods.localizers.solution import Solution
from tag2box.methods.localizers.stack import BagStack, softmax_by_image, stack_bags
from tag2box.methods.localizers.starts import Start, background_only, given, random_regions, whole_images
from tag2box.methods.localizers.vmf_mil import VmfMil

__all__ = [
    "NO_BACKGROUND",
    "NO_CLAMPS",
    "Background",
    "BagStack",
    "Clamps",
    "EmStep",
    "FeatureMap",
    "FittedBackground",
    "Foreground",
    "GaussianBackground",
    "GaussianForeground",
    "GaussianMil",
    "Localizer",
    "MixtureBackground",
    "NoBackground",
    "ObjectnessBackground",
    "OddsBackground",
    "Solution",
    "Start",
    "SummedBackground",
    "VmfBackground",
    "VmfForeground",
    "VmfMil",
    "background_only",
    "center_bag",
    "center_rows",
    "e_step",
    "fit_gaussian_background",
    "given",
    "load_background",
    "m_step",
    "random_regions",
    "raw_features",
    "run_em",
    "run_em_from_all",
    "save_background",
    "softmax_by_image",
    "stack_bags",
    "tukey_features",
    "unit_features",
    "whole_images",
]

"""Localizers: from the bags of one class to one region in each image."""

from tag2box.methods.localizers.backgrounds import (
    NO_BACKGROUND,
    Background,
    GaussianBackground,
    MixtureBackground,
    NoBackground,
    ObjectnessBackground,
    OddsBackground,
    ScoredBackground,
    SummedBackground,
    VmfBackground,
    fit_gaussian_background,
)
from tag2box.methods.localizers.competition import Candidates, learn_apart, taken_by_others
from tag2box.methods.localizers.em import Em, EmRun, EmStep, Solution, e_step, likeliest, m_step, run_em
from tag2box.methods.localizers.foregrounds import Foreground, GaussianForeground, VmfForeground, logits
from tag2box.methods.localizers.gaussian_mil import GaussianMil
from tag2box.methods.localizers.photo_backgrounds import COMMON, CommonBackground, RivalBackground, SharedBackground
from tag2box.methods.localizers.scene_mil import SceneMil, scene_likeness
from tag2box.methods.localizers.stack import BagStack, stack_views
from tag2box.methods.localizers.starts import (
    NO_CLAMPS,
    Clamps,
    Start,
    background_only,
    given,
    random_regions,
    whole_images,
)
from tag2box.methods.localizers.vmf_mil import VmfMil

__all__ = [
    "COMMON",
    "NO_BACKGROUND",
    "NO_CLAMPS",
    "Background",
    "BagStack",
    "Candidates",
    "Clamps",
    "CommonBackground",
    "Em",
    "EmRun",
    "EmStep",
    "Foreground",
    "GaussianBackground",
    "GaussianForeground",
    "GaussianMil",
    "MixtureBackground",
    "NoBackground",
    "ObjectnessBackground",
    "OddsBackground",
    "RivalBackground",
    "SceneMil",
    "ScoredBackground",
    "SharedBackground",
    "Solution",
    "Start",
    "SummedBackground",
    "VmfBackground",
    "VmfForeground",
    "VmfMil",
    "background_only",
    "e_step",
    "fit_gaussian_background",
    "given",
    "learn_apart",
    "likeliest",
    "logits",
    "m_step",
    "random_regions",
    "run_em",
    "scene_likeness",
    "stack_views",
    "taken_by_others",
    "whole_images",
]

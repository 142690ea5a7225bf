"""The lineup: every method by name, with the settings that are chosen for it on held-out base classes.

To add a rival, write a learner and a line here; the product, experiments, tests and reports find it by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import final

from tag2box.methods.detectors import CosineLearner, LikenessLearner
from tag2box.methods.floors import Floor, objectness, random_region, whole_image
from tag2box.methods.knowledge import Knowledge
from tag2box.methods.learners import ObjectLearner
from tag2box.methods.localizers import (
    NO_BACKGROUND,
    Background,
    GaussianBackground,
    GaussianMil,
    ObjectnessBackground,
    OddsBackground,
    SceneMil,
    SummedBackground,
    VmfMil,
    background_only,
    random_regions,
)
from tag2box.methods.rivals import MiSvm
from tag2box.sphere import KAPPA_RULES

BOTH = "support and query CorLoc"
"""A figure to choose settings by"""

Chosen = Mapping[str, float]
"""Values of a method's settings."""

STEPS = (3.0, 20.0)
"""After 20, EM has all but converged."""
VMF_GRID = {
    "kappa": (16.0, 24.0, 32.0, 48.0, 64.0),
    "background_weight": (2.0, 4.0, 6.0, 9.0, 12.0),
    "steps": STEPS,
}
GUIDED_GRID = {
    "kappa": (8.0, 12.0, 16.0),
    "background_weight": (0.5, 1.0, 2.0),
    "objectness_weight": (0.5, 1.0, 1.5),
    "steps": STEPS,
}
SCENE_GRID = {
    "kappa": (12.0, 16.0, 24.0, 32.0),
    "objectness_weight": (0.0, 0.5, 1.0, 1.5, 2.0),
    "commonness_weight": (0.0, 1.5, 3.0, 6.0),
    "sharedness_weight": (0.0, 3.0, 5.0, 8.0),
    "rivalry_weight": (0.0, 4.0, 8.0, 12.0, 16.0),
}
GAUSSIAN_GRID = {"sigma": (0.7, 1.0, 1.5, 2.0, 3.0, 5.0), "background_weight": (0.03, 0.1, 0.3, 1.0, 3.0)}
RULE_GRID = {"background_factor": (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)}
"""How much more the background weighs where a rule updates κ, and makes it ten times as large as the constant"""
HEAD_GRID = {"tau": (1.25, 2.5, 5.0, 10.0, 20.0), "balanced": (0.0, 1.0)}


@final
@dataclass(frozen=True)
class Method:
    """A method by its name in tables, and how to make it from what is known and what was chosen."""

    title: str
    build: Callable[[Knowledge, Chosen], ObjectLearner]
    grid: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Values of each setting to choose from; empty if there is nothing to choose"""
    like: str | None = None
    """The method whose chosen settings this one uses, beside its own"""
    chosen_by: str = "query CorLoc"
    """What settings are chosen by: a detector is for more than the best region"""
    for_people: bool = False
    """Whether it is what users get, who photograph things on one floor too: tasks of one scene then help to choose"""


def _vmf(known: Knowledge, chosen: Chosen) -> VmfMil:
    """vMF-MIL as in the paper."""
    weight, steps = chosen["background_weight"], int(chosen["steps"])
    return VmfMil(chosen["kappa"], known.background, weight, center=known.center, max_steps=steps)


def _guided(known: Knowledge, chosen: Chosen) -> VmfMil:
    """vMF-MIL with what base regions look like and, beside it, what the detector takes for no object (5.6)."""
    parts = ((chosen["objectness_weight"], OddsBackground()), (chosen["background_weight"], known.background))
    return VmfMil(chosen["kappa"], SummedBackground(parts), center=known.center, max_steps=int(chosen["steps"]))


def _scenes(known: Knowledge, chosen: Chosen) -> SceneMil:
    """vMF-MIL from what looks like an object, in whitened features, by how alike the scenes are (5.9)."""
    vmf = VmfMil(
        chosen["kappa"],
        _objectness_prior(chosen),
        center=known.center,
        whitening=known.whitening,
        start=background_only,
    )
    return SceneMil(vmf, chosen["commonness_weight"], chosen["sharedness_weight"], chosen["rivalry_weight"])


def _objectness_prior(chosen: Chosen) -> SummedBackground:
    """What speaks against a region in a new photo: that the detector takes it for no object (9.4)."""
    return SummedBackground(((chosen["objectness_weight"], OddsBackground()),))


def _start_only(known: Knowledge, chosen: Chosen) -> VmfMil:
    return replace(_vmf(known, chosen), max_steps=0)


def _guided_start_only(known: Knowledge, chosen: Chosen) -> VmfMil:
    return replace(_guided(known, chosen), max_steps=0)


def _without_background(known: Knowledge, chosen: Chosen) -> VmfMil:
    return replace(_vmf(known, chosen), background=NO_BACKGROUND)


def _background_alone(known: Knowledge, chosen: Chosen) -> VmfMil:
    return replace(_vmf(known, chosen), start=background_only, max_steps=0)


def _random_start(known: Knowledge, chosen: Chosen) -> VmfMil:
    return replace(_vmf(known, chosen), start=random_regions)


def _kappa_rule(known: Knowledge, chosen: Chosen, *, rule: str) -> VmfMil:
    weight = chosen["background_factor"] * chosen["background_weight"]
    return replace(_vmf(known, chosen), kappa_rule=KAPPA_RULES[rule], background_weight=weight)


def _objectness_background(known: Knowledge, chosen: Chosen) -> VmfMil:
    """What the paper uses where a class has many images (5.4)."""
    return VmfMil(chosen["kappa"], ObjectnessBackground(chosen["alpha"]), center=known.center)


def _some_steps(known: Knowledge, chosen: Chosen, *, steps: int) -> VmfMil:
    return replace(_vmf(known, chosen), max_steps=steps, tol=0.0)


def _gaussian(background: GaussianBackground, chosen: Chosen) -> GaussianMil:
    """The deviation is chosen as a share of the background's."""
    sigma = chosen["sigma"] * background.sigma
    return GaussianMil(sigma, background, chosen["background_weight"], background.features)


def _mi_svm(known: Knowledge, chosen: Chosen) -> MiSvm:
    return MiSvm(known.objectness, chosen["gamma"], chosen["cost"], known.center)


def _detector(known: Knowledge, chosen: Chosen) -> CosineLearner:
    return _cosine_head(_vmf(known, chosen), chosen)


def _start_only_detector(known: Knowledge, chosen: Chosen) -> CosineLearner:
    return _cosine_head(_start_only(known, chosen), chosen)


def _guided_detector(known: Knowledge, chosen: Chosen) -> CosineLearner:
    return _cosine_head(_guided(known, chosen), chosen, _objectness_prior(chosen))


def _cosine_head(localizer: VmfMil, chosen: Chosen, prior: Background = NO_BACKGROUND) -> CosineLearner:
    return CosineLearner(localizer, chosen["tau"], prior, balanced=bool(chosen["balanced"]))


def _likeness_detector(known: Knowledge, chosen: Chosen) -> LikenessLearner:
    localizer = _scenes(known, chosen)
    return LikenessLearner(localizer, chosen["sharpness"], chosen["example_share"], _objectness_prior(chosen))


_KAPPA_RULES = {
    f"kappa-{rule}": Method(f"κ by {rule}", partial(_kappa_rule, rule=rule), RULE_GRID, like="vmf-mil")
    for rule in KAPPA_RULES
}

_STEPS = {
    f"em-{steps}": Method(f"{steps} EM steps", partial(_some_steps, steps=steps), like="vmf-mil")
    for steps in (0, 1, 2, 3, 4, 6, 8, 12)
}

LINEUP: Mapping[str, Method] = MappingProxyType(
    {
        "vmf-mil": Method("vMF-MIL", _vmf, VMF_GRID),
        "vmf-mil-guided": Method("vMF-MIL with objectness", _guided, GUIDED_GRID),
        "vmf-mil-scenes": Method("vMF-MIL with scenes", _scenes, SCENE_GRID, chosen_by=BOTH, for_people=True),
        "prototypical": Method("Prototypical Init", _start_only, like="vmf-mil"),
        "prototypical-guided": Method("Prototypical Init with objectness", _guided_start_only, like="vmf-mil-guided"),
        "no-background": Method("without background", _without_background, like="vmf-mil"),
        "background-only": Method("background alone", _background_alone, like="vmf-mil"),
        "random-start": Method("Random Init", _random_start, like="vmf-mil"),
        "gaussian": Method("Gaussian", lambda known, chosen: _gaussian(known.gaussian, chosen), GAUSSIAN_GRID),
        "tukey": Method("Tukey + Gaussian", lambda known, chosen: _gaussian(known.tukey, chosen), GAUSSIAN_GRID),
        "vmf-mil-objectness": Method(
            "vMF-MIL, objectness as background",
            _objectness_background,
            {"kappa": (8.0, 12.0, 16.0, 24.0, 32.0), "alpha": (0.5, 1.0, 2.0, 4.0)},
        ),
        **_KAPPA_RULES,
        **_STEPS,
        "mi-svm": Method("MI-SVM", _mi_svm, {"gamma": (0.0, 0.1, 0.25, 0.5, 1.0), "cost": (0.1, 1.0, 10.0, 100.0)}),
        "vmf-mil-detector": Method("vMF-MIL, cosine head", _detector, HEAD_GRID, "vmf-mil", "mAP"),
        "prototypical-detector": Method(
            "Prototypical Init, cosine head", _start_only_detector, HEAD_GRID, "vmf-mil", "mAP"
        ),
        "vmf-mil-guided-detector": Method(
            "vMF-MIL with objectness, cosine head", _guided_detector, HEAD_GRID, "vmf-mil-guided", "mAP"
        ),
        "vmf-mil-likeness": Method(
            "vMF-MIL with scenes, likeness head",
            _likeness_detector,
            {"sharpness": (4.0, 6.0, 8.0, 10.0, 12.0, 16.0, 24.0), "example_share": (0.0, 0.25, 0.5, 0.75, 1.0)},
            like="vmf-mil-scenes",
            chosen_by="mAP",
            for_people=True,
        ),
        "top-objectness": Method("top objectness", lambda known, chosen: Floor(objectness)),
        "whole-image": Method("whole image", lambda known, chosen: Floor(whole_image)),
        "random-region": Method("random region", lambda known, chosen: Floor(random_region)),
    }
)

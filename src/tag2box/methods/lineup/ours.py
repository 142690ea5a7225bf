"""Ours: vMF-MIL as the paper has it, step by step as users get it, and what its ablations leave out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from tag2box.arrays import Array
from tag2box.methods.detectors import CosineLearner, LikenessLearner
from tag2box.methods.knowledge import Knowledge
from tag2box.methods.lineup.method import BOTH, Chosen, Method
from tag2box.methods.localizers import (
    NO_BACKGROUND,
    Background,
    GaussianBackground,
    GaussianMil,
    ObjectnessBackground,
    OddsBackground,
    SceneMil,
    ScoredBackground,
    SummedBackground,
    VmfMil,
    background_only,
    random_regions,
)
from tag2box.sphere import KAPPA_RULES, kappa_along

STEPS = (1.0, 3.0, 5.0, 20.0, 100.0)
MANY_STEPS = 100
"""More than EM ever takes."""
WRITTEN_GRID = {"kappa": (64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0)}
CENTERED_GRID = {"kappa": (2.0, 4.0, 8.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0)}
VMF_GRID = {
    "kappa": (2.0, 4.0, 8.0, 16.0, 24.0, 32.0, 48.0, 64.0),
    "background_weight": (0.0, 1.0, 2.0, 4.0, 6.0, 9.0, 12.0),
    "steps": STEPS,
}
GUIDED_GRID = {
    "kappa": (4.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0),
    "background_weight": (0.0, 0.5, 1.0, 2.0, 4.0),
    "objectness_weight": (0.0, 0.5, 1.0, 1.5, 2.0, 3.0),
    "steps": STEPS,
}
LOGISTIC_GRID = {
    "kappa": (4.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0),
    "background_weight": (0.0, 0.25, 0.5, 1.0, 2.0, 4.0),
}
WHITE_GRID = {"kappa": (8.0, 12.0, 16.0, 24.0, 32.0, 48.0), "objectness_weight": (0.0, 0.25, 0.5, 1.0, 1.5, 2.0)}
SCENE_GRID = {
    "axes": (12.0, 16.0, 20.0, 24.0, 28.0, 32.0, 48.0),
    "objectness_weight": (0.0, 0.5, 1.0, 1.5, 2.0),
    "commonness_weight": (0.0, 1.5, 3.0, 6.0, 9.0),
    "sharedness_weight": (0.0, 3.0, 5.0, 8.0, 12.0),
    "rivalry_weight": (0.0, 4.0, 8.0, 12.0, 16.0),
}
GAUSSIAN_GRID = {"sigma": (0.7, 1.0, 1.5, 2.0, 3.0, 5.0), "background_weight": (0.03, 0.1, 0.3, 1.0, 3.0)}
RULE_GRID = {"background_factor": (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)}
"""How much more the background weighs where a rule updates κ, and makes it ten times as large as the constant"""
HEAD_GRID = {"tau": (0.3, 0.6, 1.25, 2.5, 5.0, 10.0, 20.0), "balanced": (0.0, 1.0)}


def _written(known: Knowledge, chosen: Chosen) -> VmfMil:
    """vMF-MIL to the letter: features as they are, one vMF as background with its own κ, until nothing moves."""
    return VmfMil(chosen["kappa"], known.plain, max_steps=MANY_STEPS)


def _centered(known: Knowledge, chosen: Chosen) -> VmfMil:
    """The same on centred features."""
    return VmfMil(chosen["kappa"], known.background, center=known.center, max_steps=MANY_STEPS)


def _logistic(known: Knowledge, chosen: Chosen) -> VmfMil:
    """With what a logistic regression on the same features takes for no object, in the place of the vMF."""
    background = ScoredBackground(known.objectness)
    return VmfMil(chosen["kappa"], background, chosen["background_weight"], center=known.center)


def _white(known: Knowledge, chosen: Chosen) -> VmfMil:
    """In whitened features, with objectness alone as background."""
    prior = _objectness_prior(chosen)
    return VmfMil(chosen["kappa"], prior, center=known.center, space=known.whitening)


def _white_start(known: Knowledge, chosen: Chosen) -> VmfMil:
    """The same from what looks like an object, and not from whole images."""
    return replace(_white(known, chosen), start=background_only)


def _kin(known: Knowledge, chosen: Chosen) -> VmfMil:
    """The same along axes that tell kinds of things apart."""
    return replace(_white_start(known, chosen), space=known.kin_space)


def _vmf(known: Knowledge, chosen: Chosen) -> VmfMil:
    """vMF-MIL on centred features, with a weight of the background."""
    weight, steps = chosen["background_weight"], int(chosen["steps"])
    return VmfMil(chosen["kappa"], known.background, weight, center=known.center, max_steps=steps)


def _guided(known: Knowledge, chosen: Chosen) -> VmfMil:
    """vMF-MIL with what base regions look like and, beside it, what the detector takes for no object (5.6)."""
    parts = ((chosen["objectness_weight"], OddsBackground()), (chosen["background_weight"], known.background))
    return VmfMil(chosen["kappa"], SummedBackground(parts), center=known.center, max_steps=int(chosen["steps"]))


def _scenes(known: Knowledge, chosen: Chosen) -> SceneMil:
    """The same by how alike the scenes are (5.9), as concentrated as what the photos share is alike (2.5)."""
    axes = int(chosen["axes"])
    vmf = replace(_kin(known, {**chosen, "kappa": float(axes)}), kappa_rule=partial(kappa_along, axes=axes))
    return SceneMil(vmf, *(chosen[f"{name}_weight"] for name in ("commonness", "sharedness", "rivalry")))


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


def _gaussian(background: GaussianBackground, center: Array | None, chosen: Chosen) -> GaussianMil:
    """The deviation is chosen as a share of the background's."""
    sigma = chosen["sigma"] * background.sigma
    return GaussianMil(sigma, background, chosen["background_weight"], background.features, center=center)


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

OURS: Mapping[str, Method] = {
    "vmf-mil-written": Method("vMF-MIL as written", _written, WRITTEN_GRID),
    "vmf-mil-centered": Method("centred vMF-MIL", _centered, CENTERED_GRID),
    "vmf-mil": Method("weighted vMF-MIL", _vmf, VMF_GRID),
    "vmf-mil-guided": Method("vMF-MIL with objectness", _guided, GUIDED_GRID),
    "vmf-mil-scenes": Method("vMF-MIL with scenes", _scenes, SCENE_GRID, chosen_by=BOTH, for_people=True),
    "prototypical": Method("Prototypical Init", _start_only, like="vmf-mil"),
    "prototypical-guided": Method("Prototypical Init with objectness", _guided_start_only, like="vmf-mil-guided"),
    "no-background": Method("without background", _without_background, like="vmf-mil"),
    "background-only": Method("background alone", _background_alone, like="vmf-mil"),
    "random-start": Method("Random Init", _random_start, like="vmf-mil"),
    "gaussian": Method(
        "Gaussian", lambda known, chosen: _gaussian(known.gaussian, known.center, chosen), GAUSSIAN_GRID
    ),
    "tukey": Method(
        "Tukey + Gaussian", lambda known, chosen: _gaussian(known.tukey, known.center, chosen), GAUSSIAN_GRID
    ),
    "vmf-mil-objectness": Method(
        "vMF-MIL, objectness as background",
        _objectness_background,
        {"kappa": (8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0), "alpha": (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)},
    ),
    **_KAPPA_RULES,
    **_STEPS,
    "vmf-mil-logistic": Method("vMF-MIL, logistic background", _logistic, LOGISTIC_GRID),
    "vmf-mil-white": Method("vMF-MIL with objectness, whitened", _white, WHITE_GRID),
    "vmf-mil-white-start": Method("vMF-MIL with objectness, whitened, started at objects", _white_start, WHITE_GRID),
    "vmf-mil-kin": Method("vMF-MIL with objectness, along axes of kinship", _kin, WHITE_GRID),
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
}

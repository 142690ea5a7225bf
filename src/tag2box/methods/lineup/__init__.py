"""The lineup: every method by name, with the settings that are chosen for it on held-out base classes.

To add a rival, write a learner and a line in ``theirs``; the product, experiments, tests and reports find it by its
name.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tag2box.methods.floors import Floor, objectness, random_region, whole_image
from tag2box.methods.lineup.method import BOTH, Chosen, Method
from tag2box.methods.lineup.ours import OURS
from tag2box.methods.lineup.theirs import THEIRS

FLOORS: Mapping[str, Method] = {
    "top-objectness": Method("top objectness", lambda known, chosen: Floor(objectness)),
    "whole-image": Method("whole image", lambda known, chosen: Floor(whole_image)),
    "random-region": Method("random region", lambda known, chosen: Floor(random_region)),
}

LINEUP: Mapping[str, Method] = MappingProxyType({**OURS, **THEIRS, **FLOORS})

__all__ = ["BOTH", "LINEUP", "Chosen", "Method"]

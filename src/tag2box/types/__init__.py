"""The values that everything else passes around."""

from tag2box.types.bag import WHOLE_IMAGE, ProposalBag, require_dimension
from tag2box.types.detections import Detection, Detections
from tag2box.types.episode import Episode, TaggedImage, require_tag_set
from tag2box.types.localization import ABSENT, Localization
from tag2box.types.truth import Truth

__all__ = [
    "ABSENT",
    "WHOLE_IMAGE",
    "Detection",
    "Detections",
    "Episode",
    "Localization",
    "ProposalBag",
    "TaggedImage",
    "Truth",
    "require_dimension",
    "require_tag_set",
]

"""tag2box: tags in, boxes out.

Few-shot weakly-supervised object detection: a few photos of each new kind of thing, tagged with what they show, are
enough to find the thing in every photo and to learn a detector from that.
"""

from tag2box.errors import InputError, Tag2BoxError
from tag2box.types import Detection, Detections, Episode, Localization, ProposalBag, TaggedImage, Truth

__version__ = "0.1.0"

__all__ = [
    "Detection",
    "Detections",
    "Episode",
    "InputError",
    "Localization",
    "ProposalBag",
    "Tag2BoxError",
    "TaggedImage",
    "Truth",
    "__version__",
]

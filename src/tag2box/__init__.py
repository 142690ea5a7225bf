"""tag2box: tags in, boxes out.

Few-shot weakly-supervised object detection: a few photos of each new kind of thing, tagged with what they show, are
enough to find the thing in every photo and to learn a detector from that.
"""

from typing import TYPE_CHECKING, Any

from tag2box.errors import InputError, Tag2BoxError
from tag2box.types import Detection, Detections, Episode, Localization, ProposalBag, TaggedImage, Truth

if TYPE_CHECKING:
    from tag2box.product.few_shot_detector import FewShotDetector

__version__ = "0.2.0"

__all__ = [
    "Detection",
    "Detections",
    "Episode",
    "FewShotDetector",
    "InputError",
    "Localization",
    "ProposalBag",
    "Tag2BoxError",
    "TaggedImage",
    "Truth",
    "__version__",
]


def __getattr__(name: str) -> Any:
    """The detector comes with all that it needs, when somebody asks for it."""
    if name == "FewShotDetector":
        from tag2box.product.few_shot_detector import FewShotDetector

        return FewShotDetector
    raise AttributeError(f"module 'tag2box' has no attribute {name!r}")


def __dir__() -> list[str]:
    """All names, also of what comes only when somebody asks for it."""
    return sorted({*globals(), *__all__})

"""A detector of ours as an auto-annotation function of CVAT.

``cvat-cli task auto-annotate 7 --function-module tag2box.doors.cvat -p classes=str:things.classes``
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, final

from PIL import Image

from tag2box.data.formats.coco_results import FOUND
from tag2box.errors import ClassFileError, DoorError
from tag2box.product.events import silent
from tag2box.product.few_shot_detector import FewShotDetector

LONGEST_LABEL = 64
"""Characters that CVAT takes."""


class Context(Protocol):
    """What CVAT says of a frame."""

    @property
    def conf_threshold(self) -> float | None:
        """The least score that is wanted; None leaves it to us."""
        ...


def create(classes: str, limit: int = 100, model: str = "") -> DetectionFunction:
    """The function that CVAT calls for each photo: ``classes`` is a class file, ``limit`` the most boxes in a photo.

    ``model`` is the folder of a model, if it is not the one that ships.
    """
    if limit < 1:
        raise DoorError(f"at most {limit} boxes were asked for.", "one box or more", "give another -p limit=int:100.")
    if find_spec("cvat_sdk") is None:
        raise DoorError(
            "CVAT's functions were asked for, and its SDK is not installed.",
            "the packages cvat-sdk and cvat-cli",
            "pip install cvat-sdk cvat-cli, beside tag2box.",
        )
    detector = FewShotDetector.load(classes, Path(model) if model else None, listen=silent)
    _require_labels(classes, detector.classes_)
    return DetectionFunction(detector, limit)


def _require_labels(classes: str, labels: Sequence[str]) -> None:
    """Refuse what no task of CVAT can be labelled with."""
    if not labels:
        raise ClassFileError(f"{classes} knows nothing.", "at least one class", "fit some, with tag2box fit.")
    long = [label for label in labels if len(label) > LONGEST_LABEL]
    if long:
        raise ClassFileError(
            f"the class {long[0]!r} of {classes} has {len(long[0])} characters.",
            f"at most {LONGEST_LABEL}, which is what CVAT takes",
            "give it a shorter name and fit it again, or remove it with tag2box classes remove.",
        )


@final
class DetectionFunction:
    """Fulfils the protocol of the same name in ``cvat_sdk.auto_annotation``."""

    def __init__(self, detector: FewShotDetector, limit: int) -> None:
        """For ``create``."""
        import cvat_sdk.auto_annotation as cvataa

        self._detector, self._limit = detector, limit
        self._ids = {label: number for number, label in enumerate(detector.classes_)}
        labels = [cvataa.label_spec(label, number, type="rectangle") for label, number in self._ids.items()]
        self.spec: Any = cvataa.DetectionFunctionSpec(labels=labels)

    def detect(self, context: Context, image: Image.Image) -> list[Any]:
        """Rectangles in the upright photo, the surest first; if CVAT names no least score, each class has its own."""
        import cvat_sdk.auto_annotation as cvataa

        least = FOUND if context.conf_threshold is None else context.conf_threshold
        found = list(self._detector.detect(image, min_score=least))[: self._limit]
        # CVAT takes a list of Python's own numbers, and nothing that is merely like it
        return [
            cvataa.rectangle(self._ids[one.label], [float(edge) for edge in one.box], score=float(one.score))
            for one in found
        ]

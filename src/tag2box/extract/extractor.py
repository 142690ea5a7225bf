"""What an extractor is: a picture in, a bag of regions with features out.

n = regions, d = feature dimension
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, final

import numpy as np
import numpy.typing as npt
from PIL import Image

from tag2box.arrays import Array, Float32s
from tag2box.extract.objectness import with_objectness
from tag2box.extract.photos import Pixels
from tag2box.extract.proposals import SeenPhoto
from tag2box.types import ProposalBag
from tag2box.types.bag import WHOLE_IMAGE

Picture = Path | Image.Image | Pixels
"""A file, a Pillow image, or 8-bit pixels (height, width, 3) in RGB order."""


@final
@dataclass(frozen=True, eq=False)
class Extracted:
    """What an extractor makes of a picture."""

    bag: ProposalBag
    """Row 0 is the whole photo, exactly"""
    source_hash: str
    """SHA-256 of the file, or of the pixels of a picture in memory"""
    height: int
    """Of the upright picture at full size"""
    width: int


class Extractor(Protocol):
    """Proposes and describes the regions of pictures; several threads may use it."""

    @property
    def fingerprint(self) -> str:
        """Names everything that a bag depends on: bags of another fingerprint cannot be compared or mixed."""
        ...

    @property
    def dimension(self) -> int:
        """Length d of a feature."""
        ...

    def extract(self, picture: Picture, image_id: str) -> Extracted:
        """The whole photo and the regions in which things may be."""
        ...

    def describe_boxes(self, picture: Picture, image_id: str, boxes: npt.ArrayLike) -> Extracted:
        """The whole photo and ``boxes`` (n, 4) that a person drew, in pixels of the full photo."""
        ...


@final
@dataclass(frozen=True, eq=False)
class Proposed:
    """Regions of a photo, in pixels of its first view."""

    boxes: Float32s
    """(n, 4), the best first"""
    objectness: Array
    """(n,), how likely each frames an object, of whatever class"""


class Proposer(Protocol):
    """Half of an extractor: says where things may be, and knows nothing of features."""

    def propose(self, seen: SeenPhoto) -> Proposed:
        """The whole photo and the best regions."""
        ...

    def judge(self, seen: SeenPhoto, boxes: Float32s) -> Proposed:
        """Any boxes (n, 4), in pixels of the first view, as if they had been proposed."""
        ...


class Describer(Protocol):
    """The other half: says what boxes look like, wherever they come from."""

    @property
    def dimension(self) -> int:
        """Length d of a feature."""
        ...

    def features(self, seen: SeenPhoto, boxes: Float32s) -> Float32s:
        """(n, d), not yet of unit length, of ``boxes`` (n, 4) in pixels of the first view."""
        ...


def assembled(
    seen: SeenPhoto, image_id: str, proposed: Proposed, describer: Describer, objectness_share: float = 0.0
) -> Extracted:
    """What a proposer and a describer say together; the first row of ``proposed`` is the whole photo."""
    photo = seen.photo
    boxes = np.minimum(proposed.boxes * seen.scale, [photo.width, photo.height] * 2)  # (n, 4), of the full photo
    boxes[WHOLE_IMAGE] = 0, 0, photo.width, photo.height  # exactly, whatever scaling made of it
    features = with_objectness(describer.features(seen, proposed.boxes), proposed.objectness, objectness_share)
    bag = ProposalBag.from_raw(image_id, boxes, features, proposed.objectness)
    return Extracted(bag, photo.source_hash, photo.height, photo.width)

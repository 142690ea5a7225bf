"""The extractor: a photo to a bag of regions with features, by two ONNX graphs with numpy in between.

n = regions, d = feature dimension, S = side of the network's input
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import final

import numpy as np
import numpy.typing as npt

from tag2box.arrays import Array, Float32s, require_number
from tag2box.boxes import as_boxes, require_boxes
from tag2box.extract.card import BOX_GRAPH, PHOTO_GRAPH, Card, read_card
from tag2box.extract.graphs import Graph, OnnxGraph
from tag2box.extract.objectness import Candidates, region_signals
from tag2box.extract.photos import Photo, load_photo, on_canvas
from tag2box.extract.proposals import final_rows, first_candidates, inside_photo
from tag2box.types import ProposalBag

SHIPPED_MODEL = "lite0"
REGIONS = 300


@final
@dataclass(frozen=True, eq=False)
class SeenPhoto:
    """A photo after the first graph: everything that the second one needs, for any boxes."""

    photo: Photo
    boxes: Float32s
    """Proposed at each location, in pixels of the network's input"""
    quality: Float32s
    maps: dict[str, Float32s]

    @property
    def scale(self) -> Float32s:
        """(4,), pixels of the photo for each pixel of the network's input, along x, y, x, y."""
        height, width = self.photo.pixels.shape[:2]
        return np.array([self.photo.width / width, self.photo.height / height] * 2, dtype=np.float32)


@final
@dataclass(frozen=True, eq=False)
class Descriptions:
    """What the second graph says of boxes, in pixels of the network's input."""

    corrected: Float32s
    """(n, 4), where each box had better be"""
    quality: Float32s
    """(n,), the overlap that it is believed to have with an object"""
    features: Float32s
    """(n, d), not yet of unit length"""
    classes: Float32s
    """(n, base classes + 1), probabilities; the last is that of no base class"""


@final
class Extractor:
    """Proposes and describes the regions of photos. One extractor may be used by several threads."""

    def __init__(self, folder: Path | None = None, *, regions: int = REGIONS, threads: int | None = None) -> None:
        """Load the model in ``folder``, or the one that ships with the package; ``threads`` work on one photo."""
        require_number("regions", regions, at_least=1)
        self.folder = model_folder(folder)
        self.card: Card = read_card(self.folder)
        self.regions_wanted = regions
        workers = threads or os.cpu_count() or 1
        self.photo_graph: Graph = OnnxGraph(self.folder / PHOTO_GRAPH, workers)
        self.box_graph: Graph = OnnxGraph(self.folder / BOX_GRAPH, workers)

    @property
    def fingerprint(self) -> str:
        """Names the features: what was described by another fingerprint cannot be compared."""
        return self.card.fingerprint

    def extract(self, path: Path, image_id: str | None = None) -> ProposalBag:
        """The bag of a picture file; its id is the file's name unless another is given."""
        return self.bag(self.see_file(path), image_id if image_id is not None else path.name)

    def see_file(self, path: Path) -> SeenPhoto:
        """Load a picture and run the first graph."""
        return self.see(load_photo(path, self.card.image_size))

    def see(self, photo: Photo) -> SeenPhoto:
        """Run the first graph."""
        pixels = on_canvas(photo.pixels, self.card.image_size)
        said = {name: values[0] for name, values in self.photo_graph({"pixels": pixels[None]}).items()}
        return SeenPhoto(photo, said.pop("boxes"), said.pop("quality"), said)

    def bag(self, seen: SeenPhoto, image_id: str, drawn: npt.ArrayLike = ()) -> ProposalBag:
        """The whole image, the best regions and, last, boxes that a person drew, in pixels of the full photo."""
        candidates = self.candidates(seen)
        regions = np.concatenate([self.regions(seen, candidates), self._in_network(seen, drawn)])  # (n, 4)
        said = self._run_box_graph(seen, regions)
        objectness = self.card.objectness(self.signals(seen, candidates, regions))
        in_photo = np.minimum(regions * seen.scale, [seen.photo.width, seen.photo.height] * 2)
        return ProposalBag.from_raw(image_id, in_photo, said.features, objectness)

    def candidates(self, seen: SeenPhoto) -> Candidates:
        """The boxes of the first stage, thinned out, each corrected once by the second."""
        height, width = seen.photo.pixels.shape[:2]
        side, rules = self.card.image_size, self.card.rules
        boxes, first = first_candidates(seen.boxes, seen.quality, side, height, width, rules)
        judged = self._run_box_graph(seen, boxes)
        return Candidates(inside_photo(judged.corrected, height, width), first, judged.quality)

    def regions(self, seen: SeenPhoto, candidates: Candidates) -> Float32s:
        """(n, 4), the whole image and the best candidates, in pixels of the network's input."""
        height, width = seen.photo.pixels.shape[:2]
        best = final_rows(candidates.boxes, candidates.first, candidates.second, self.card.rules, self.regions_wanted)
        whole = np.array([[0, 0, width, height]], dtype=np.float32)
        return np.concatenate([whole, candidates.boxes[best]])

    def signals(self, seen: SeenPhoto, candidates: Candidates, regions: Float32s) -> Array:
        """(n, 4), what objectness is made of."""
        height, width = seen.photo.pixels.shape[:2]
        return region_signals(regions, candidates, height, width)

    def describe(self, seen: SeenPhoto, boxes: npt.ArrayLike) -> Descriptions:
        """What the second graph says of any boxes (n, 4), given in pixels of the full photo."""
        return self._run_box_graph(seen, self._in_network(seen, boxes))

    def _in_network(self, seen: SeenPhoto, boxes: npt.ArrayLike) -> Float32s:
        rows = as_boxes(boxes)
        require_boxes("boxes to describe", rows)
        height, width = seen.photo.pixels.shape[:2]
        return inside_photo(rows / seen.scale, height, width)

    def _run_box_graph(self, seen: SeenPhoto, boxes: Float32s) -> Descriptions:
        some = boxes if len(boxes) else np.array([[0, 0, 1, 1]], dtype=np.float32)  # a graph wants one box at least
        said = self.box_graph(seen.maps | {"boxes": some})
        return Descriptions(**{name: values[: len(boxes)] for name, values in said.items()})


def model_folder(given: Path | None) -> Path:
    """The folder that was given, or that of the model that ships."""
    return given if given is not None else shipped_model()


def shipped_model() -> Path:
    """Folder of the model inside the package."""
    with as_file(files("tag2box") / "assets" / "models" / SHIPPED_MODEL) as folder:
        return folder

"""The extractor: a photo to a bag of regions with features, by two ONNX graphs with numpy in between.

n = regions, d = feature dimension
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import final

import numpy as np
import numpy.typing as npt
from PIL import Image

from tag2box.arrays import Array, Float32s, require_number
from tag2box.boxes import as_boxes, require_boxes
from tag2box.errors import ShapeError
from tag2box.extract.card import BOX_GRAPH, PHOTO_GRAPH, Card, read_card
from tag2box.extract.graphs import Arrays, Graph, OnnxGraph
from tag2box.extract.looks import Look, SeenPhoto, first_proposals
from tag2box.extract.objectness import Candidates, region_signals
from tag2box.extract.photos import Photo, Pixels, as_photo, load_photo, on_canvas
from tag2box.extract.proposals import final_rows, inside_photo
from tag2box.types import ProposalBag

SHIPPED_MODEL = "lite0"
REGIONS = 300


@final
@dataclass(frozen=True, eq=False)
class Descriptions:
    """What the second graph says of boxes, in pixels of the look that it was asked about."""

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
        return self.see(load_photo(path, *self.card.sides))

    def see_picture(self, picture: Image.Image | Pixels) -> SeenPhoto:
        """Run the first graph on a picture in memory, as Pillow or numpy has it."""
        return self.see(as_photo(picture, *self.card.sides))

    def see(self, photo: Photo) -> SeenPhoto:
        """Run the first graph on every view of a photo, which must be those of the card's sides."""
        found = tuple(max(pixels.shape[:2]) for pixels in photo.views)
        if found != self.card.sides:
            raise ShapeError(
                f"the views of a photo have the longest sides {found}.",
                f"{self.card.sides}, as the model's card says",
                "load the photo with load_photo(path, *extractor.card.sides).",
            )
        return SeenPhoto(photo, tuple(map(self._look, photo.views, self.card.sides)))

    def bag(self, seen: SeenPhoto, image_id: str, drawn: npt.ArrayLike = ()) -> ProposalBag:
        """The whole image, the best regions and, last, boxes that a person drew, in pixels of the full photo."""
        candidates = self.candidates(seen)
        regions = np.concatenate([self.regions(seen, candidates), self._in_network(seen, drawn)])  # (n, 4)
        features = self._run_box_graph(seen.first, regions)["features"]
        objectness = self.card.objectness(self.signals(seen, candidates, regions))
        in_photo = np.minimum(regions * seen.scale, [seen.photo.width, seen.photo.height] * 2)
        return ProposalBag.from_raw(image_id, in_photo, features, objectness)

    def candidates(self, seen: SeenPhoto) -> Candidates:
        """The boxes of the first stage, thinned out, each corrected once by the second, in the look it comes from."""
        proposed = first_proposals(seen, self.card.rules)
        corrected, second = np.empty_like(proposed.boxes), np.empty_like(proposed.quality)
        for number, look in enumerate(seen.looks):
            rows, enlargement = np.flatnonzero(proposed.look == number), seen.enlargement(look)
            judged = self._run_box_graph(look, proposed.boxes[rows] * enlargement)
            corrected[rows], second[rows] = judged["corrected"] / enlargement, judged["quality"]
        inside = inside_photo(corrected, seen.first.height, seen.first.width)
        return Candidates(inside, proposed.quality, second)

    def regions(self, seen: SeenPhoto, candidates: Candidates) -> Float32s:
        """(n, 4), the whole image and the best candidates, in pixels of the first look."""
        best = final_rows(candidates.boxes, candidates.first, candidates.second, self.card.rules, self.regions_wanted)
        whole = np.array([[0, 0, seen.first.width, seen.first.height]], dtype=np.float32)
        return np.concatenate([whole, candidates.boxes[best]])

    def signals(self, seen: SeenPhoto, candidates: Candidates, regions: Float32s) -> Array:
        """(n, 4), what objectness is made of."""
        return region_signals(regions, candidates, seen.first.height, seen.first.width)

    def describe(self, seen: SeenPhoto, boxes: npt.ArrayLike) -> Descriptions:
        """What the second graph says of any boxes (n, 4), given in pixels of the full photo."""
        return Descriptions(**self._run_box_graph(seen.first, self._in_network(seen, boxes)))

    def _in_network(self, seen: SeenPhoto, boxes: npt.ArrayLike) -> Float32s:
        rows = as_boxes(boxes)
        require_boxes("boxes to describe", rows)
        return inside_photo(rows / seen.scale, seen.first.height, seen.first.width)

    def _look(self, pixels: Pixels, side: int) -> Look:
        said = {name: values[0] for name, values in self.photo_graph({"pixels": on_canvas(pixels, side)[None]}).items()}
        height, width = pixels.shape[:2]
        return Look(side, height, width, said.pop("boxes"), said.pop("quality"), said)

    def _run_box_graph(self, look: Look, boxes: Float32s) -> Arrays:
        """What the second graph says of ``boxes``, in pixels of ``look``."""
        some = boxes if len(boxes) else np.array([[0, 0, 1, 1]], dtype=np.float32)  # a graph wants one box at least
        said = self.box_graph(look.maps | {"boxes": some})
        return {name: values[: len(boxes)] for name, values in said.items()}


def model_folder(given: Path | None) -> Path:
    """The folder that was given, or that of the model that ships."""
    return given if given is not None else shipped_model()


def shipped_model() -> Path:
    """Folder of the model inside the package."""
    with as_file(files("tag2box") / "assets" / "models" / SHIPPED_MODEL) as folder:
        return folder

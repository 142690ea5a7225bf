"""The extractor that ships: two ONNX graphs with numpy in between.

n = regions, d = feature dimension
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Protocol, Self, final

import numpy as np
import numpy.typing as npt
from PIL import Image

from tag2box.arrays import Array, Float32s, require_number
from tag2box.errors import ModelError, ShapeError, reason_of
from tag2box.extract.averages import core_averages, with_core
from tag2box.extract.card import BOX_GRAPH, PHOTO_GRAPH, REGIONS, Card, read_card
from tag2box.extract.extractor import Extracted, Picture, Proposed, assembled
from tag2box.extract.objectness import Candidates, Objectness, region_signals
from tag2box.extract.photos import Photo, Pixels, as_photo, fitting_canvas, load_photo, on_canvas
from tag2box.extract.proposals import (
    Look,
    ProposalRules,
    SeenPhoto,
    final_rows,
    first_proposals,
    in_first_look,
    inside_photo,
    whole_look,
)
from tag2box.rows import multiplies_bytes
from tag2box.types import ProposalBag

SHIPPED_MODEL = "lite0"

Arrays = dict[str, npt.NDArray[Any]]


class Graph(Protocol):
    """Half of a model, whoever runs it: named arrays in, named arrays out."""

    inputs: tuple[str, ...]

    def __call__(self, feeds: Mapping[str, npt.NDArray[Any]]) -> Arrays:
        """The outputs by name; inputs that the graph does not have are passed over."""
        ...


@final
class OnnxGraph:
    """A graph run by ONNX Runtime; several threads may call it."""

    def __init__(self, graph: Path | bytes, threads: int) -> None:
        """Load a file, or what would be in one; ``threads`` work on one call."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.force_spinning_stop", "1")  # leave the cores to the other graph
        if not multiplies_bytes():  # sums would overflow: what was meant to be bytes is computed with floats
            options.add_session_config_entry("session.disable_quant_qdq", "1")
        try:
            source = graph if isinstance(graph, bytes) else str(graph)
            self._session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # ONNX Runtime's errors share no class
            name = "the exported graph" if isinstance(graph, bytes) else graph
            raise ModelError(
                f"{name} cannot be run: {reason_of(error)}.", "a graph of tag2box train", "export the model again."
            ) from error
        self.inputs = tuple(entry.name for entry in self._session.get_inputs())
        self._outputs = [entry.name for entry in self._session.get_outputs()]

    def __call__(self, feeds: Mapping[str, npt.NDArray[Any]]) -> Arrays:
        """The outputs by name."""
        values = self._session.run(None, {name: feeds[name] for name in self.inputs})
        return dict(zip(self._outputs, values, strict=True))


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
@dataclass(frozen=True, eq=False)
class GraphDescriber:
    """Describes boxes by the second graph, as the first look shows them, and their cores by the maps of all looks."""

    graph: Graph
    dimension: int
    halvings: tuple[int, ...]
    """The maps that tell of cores (see ``MAPS``); none where nobody asks for them"""

    def describe(self, look: Look, boxes: Float32s) -> Descriptions:
        """Everything that the graph says of ``boxes`` (n, 4), in pixels of ``look``."""
        some = boxes if len(boxes) else np.array([[0, 0, 1, 1]], dtype=np.float32)  # a graph wants one box at least
        said = self.graph(look.maps | {"boxes": some})
        return Descriptions(**{name: values[: len(boxes)] for name, values in said.items()})

    def described(self, seen: SeenPhoto, boxes: Float32s) -> Descriptions:
        """Everything that is known of ``boxes`` (n, 4) in pixels of the first look."""
        said = self.describe(seen.first, boxes)
        if not self.halvings:
            return said
        return replace(said, features=with_core(said.features, core_averages(seen, boxes, self.halvings)))

    def features(self, seen: SeenPhoto, boxes: Float32s) -> Float32s:
        """(n, d), not yet of unit length, of ``boxes`` (n, 4) in pixels of the first look."""
        return self.described(seen, boxes).features


@final
@dataclass(frozen=True, eq=False)
class GraphProposer:
    """Proposes what the first graph believes in, corrected once by the second."""

    corrector: GraphDescriber
    rules: ProposalRules
    objectness: Objectness
    count: int
    """Regions of a photo at most, beside the whole"""

    def propose(self, seen: SeenPhoto) -> Proposed:
        """The whole photo and the best regions, in pixels of the first look."""
        candidates = self.candidates(seen)
        return self._judged(seen, candidates, self.regions(seen, candidates))

    def judge(self, seen: SeenPhoto, boxes: Float32s) -> Proposed:
        """Any boxes (n, 4), in pixels of the first look, as if they had been proposed."""
        return self._judged(seen, self.candidates(seen), boxes)

    def candidates(self, seen: SeenPhoto) -> Candidates:
        """The boxes of the first stage, thinned out, each corrected once by the second, in the look it comes from."""
        proposed = first_proposals(seen, self.rules)
        corrected, second = np.empty_like(proposed.boxes), np.empty_like(proposed.quality)
        for number, look in enumerate(seen.looks):
            rows, enlargement = np.flatnonzero(proposed.look == number), seen.enlargement(look)
            judged = self.corrector.describe(look, proposed.boxes[rows] * enlargement)
            corrected[rows], second[rows] = judged.corrected / enlargement, judged.quality
        inside = inside_photo(corrected, seen.first.height, seen.first.width)
        return Candidates(inside, proposed.quality, second)

    def regions(self, seen: SeenPhoto, candidates: Candidates) -> Float32s:
        """(n, 4), the whole image and the best candidates, in pixels of the first look."""
        best = final_rows(candidates.boxes, candidates.first, candidates.second, self.rules, self.count)
        return np.concatenate([whole_look(seen), candidates.boxes[best]])

    def signals(self, seen: SeenPhoto, candidates: Candidates, regions: Float32s) -> Array:
        """(n, 4), what objectness is made of."""
        return region_signals(regions, candidates, seen.first.height, seen.first.width)

    def _judged(self, seen: SeenPhoto, candidates: Candidates, regions: Float32s) -> Proposed:
        return Proposed(regions, self.objectness(self.signals(seen, candidates, regions)))


@final
@dataclass(frozen=True, eq=False)
class TwoGraphs:
    """Proposes and describes the regions of photos; see ``Extractor``. Open one with ``open_extractor``."""

    folder: Path
    """Of the model, with everything else that belongs to it"""
    card: Card
    photo_graph: Graph
    box_graph: Graph
    regions_wanted: int = REGIONS

    @property
    def fingerprint(self) -> str:
        """Names everything that a bag depends on: bags of another fingerprint cannot be compared or mixed."""
        return self.card.fingerprint_of(self.regions_wanted)

    @property
    def dimension(self) -> int:
        """Length d of a feature."""
        return self.card.dimension

    @property
    def describer(self) -> GraphDescriber:
        """What says how boxes look."""
        return GraphDescriber(self.box_graph, self.card.described, self.card.halvings)

    @property
    def proposer(self) -> GraphProposer:
        """What says where things may be."""
        return GraphProposer(self.describer, self.card.rules, self.card.objectness, self.regions_wanted)

    def with_rules(self, rules: ProposalRules) -> Self:
        """Another extractor on the same graphs, which proposes by other rules."""
        return replace(self, card=replace(self.card, rules=rules))

    def extract(self, picture: Picture, image_id: str) -> Extracted:
        """The whole photo and the regions in which things may be."""
        seen = self.look_at(picture)
        return self._assembled(seen, image_id, self.proposer.propose(seen))

    def bag(self, seen: SeenPhoto, image_id: str) -> ProposalBag:
        """The bag of a photo after the first graph."""
        return self._assembled(seen, image_id, self.proposer.propose(seen)).bag

    def describe_boxes(self, picture: Picture, image_id: str, boxes: npt.ArrayLike) -> Extracted:
        """The whole photo and ``boxes`` (n, 4) that a person drew, in pixels of the full photo."""
        seen = self.look_at(picture)
        regions = np.concatenate([whole_look(seen), in_first_look(seen, boxes)])  # (1 + n, 4)
        return self._assembled(seen, image_id, self.proposer.judge(seen, regions))

    def _assembled(self, seen: SeenPhoto, image_id: str, proposed: Proposed) -> Extracted:
        return assembled(seen, image_id, proposed, self.describer, self.card.objectness_share)

    def look_at(self, picture: Picture) -> SeenPhoto:
        """Run the first graph on a picture, in a file or in memory."""
        return self.see_file(picture) if isinstance(picture, Path) else self.see_picture(picture)

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

    def describe(self, seen: SeenPhoto, boxes: npt.ArrayLike) -> Descriptions:
        """What is known of any boxes (n, 4), given in pixels of the full photo."""
        return self.describer.described(seen, in_first_look(seen, boxes))

    def graph_input(self, pixels: Pixels, side: int) -> Arrays:
        """A view whose longest side is ``side``, as the first graph takes it."""
        canvas = fitting_canvas(pixels) if self.card.fitted else (side, side)
        return {"pixels": on_canvas(pixels, canvas)[None]}

    def _look(self, pixels: Pixels, side: int) -> Look:
        given = self.graph_input(pixels, side)
        said = {name: values[0] for name, values in self.photo_graph(given).items()}
        canvas_height, canvas_width = given["pixels"].shape[1:3]
        height, width = pixels.shape[:2]
        return Look((canvas_height, canvas_width), height, width, said.pop("boxes"), said.pop("quality"), said)


def open_extractor(folder: Path | None = None, *, regions: int = REGIONS, threads: int | None = None) -> TwoGraphs:
    """The extractor in ``folder``, or the one that ships with the package; ``threads`` work on one photo."""
    require_number("regions", regions, at_least=1)
    place = model_folder(folder)
    card = read_card(place)
    workers = threads or os.cpu_count() or 1
    return TwoGraphs(
        place, card, OnnxGraph(place / PHOTO_GRAPH, workers), OnnxGraph(place / BOX_GRAPH, workers), regions
    )


def model_folder(given: Path | None) -> Path:
    """The folder that was given, or that of the model that ships."""
    return given if given is not None else shipped_model()


def shipped_model() -> Path:
    """Folder of the model inside the package."""
    with as_file(files("tag2box") / "assets" / "models" / SHIPPED_MODEL) as folder:
        return folder

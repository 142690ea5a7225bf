"""Graphs that compute with 8-bit numbers: half the time, where a processor multiplies bytes.

Weights get a scale for each channel. Activations get one each, by the range that they have in base photos: not the
widest of all photos, but a mean that follows them, because a scale for the rarest number is a poor one for all others.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any, final

import numpy.typing as npt
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from tag2box.errors import TrainingError
from tag2box.extract import BOX_GRAPH, CARD_NAME, PHOTO_GRAPH, TwoGraphs, load_photo, open_extractor, write_card
from tag2box.extract.card import file_hash
from tag2box.files import replacing
from tag2box.progress import Report

PHOTOS = 100
"""More would move the ranges by less than one photo does."""
BITS = 8


def quantise_model(model: Path, photos: Sequence[Path], output: Path, report: Report) -> None:
    """Write the model to another folder, with a first graph that computes with bytes.

    The second graph is copied: what it does is mostly done with numbers that no weight is among.
    """
    extractor = open_extractor(model)
    _require_quantisable(extractor, photos, output)
    output.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as scratch, replacing(output / PHOTO_GRAPH) as fresh:
        prepared = Path(scratch) / PHOTO_GRAPH
        with _quiet_root():
            quant_pre_process(str(model / PHOTO_GRAPH), str(prepared), skip_symbolic_shape=True)
            quantize_static(
                str(prepared),
                str(fresh),
                Views(extractor, photos, report),
                quant_format=QuantFormat.QDQ,
                per_channel=True,
                activation_type=QuantType.QUInt8,  # times signed bytes: what processors have instructions for
                weight_type=QuantType.QInt8,
                extra_options={"CalibMovingAverage": True},
            )
    with replacing(output / BOX_GRAPH) as fresh:
        copyfile(model / BOX_GRAPH, fresh)
    hashes = {name: file_hash(output / name) for name in (PHOTO_GRAPH, BOX_GRAPH)}
    write_card(output / CARD_NAME, replace(extractor.card, hashes=hashes, bits=BITS))


def _require_quantisable(extractor: TwoGraphs, photos: Sequence[Path], output: Path) -> None:
    model = extractor.folder
    if not photos or output.resolve() == model.resolve():
        raise TrainingError(
            f"the model in {model} cannot be turned into bytes: {'it would be overwritten' if photos else 'no photo'}.",
            "photos of the trained classes without any other, and a folder of its own for what is written",
            "give the annotations that it was trained with, and another folder with -o.",
        )
    if extractor.card.bits == BITS:
        raise TrainingError(
            f"the model in {model} computes with bytes already.",
            "a model as tag2box train writes it",
            "give the folder `model` of a training run.",
        )


@final
class Views(CalibrationDataReader):  # type: ignore[misc]  # a class without types
    """Photos in every look, one after the other, as the first graph takes them."""

    def __init__(self, extractor: TwoGraphs, photos: Sequence[Path], report: Report) -> None:
        self._canvases = self._walk(extractor, photos, report)

    def get_next(self) -> dict[str, npt.NDArray[Any]] | None:
        """The next one; None if there is none."""
        return next(self._canvases, None)

    @staticmethod
    def _walk(extractor: TwoGraphs, photos: Sequence[Path], report: Report) -> Iterator[dict[str, npt.NDArray[Any]]]:
        sides = extractor.card.sides
        for done, path in enumerate(photos, 1):
            for pixels, side in zip(load_photo(path, *sides).views, sides, strict=True):
                yield extractor.graph_input(pixels, side)
            report(done, {})


@contextmanager
def _quiet_root() -> Iterator[None]:
    """The library gives advice to whoever called it, through the root of all loggers: here that is us."""
    root, level = logging.getLogger(), logging.getLogger().level
    root.setLevel(logging.ERROR)
    try:
        yield
    finally:
        root.setLevel(level)

"""A dataset by the one file that names it, whatever its layout."""

from __future__ import annotations

from pathlib import Path

from tag2box.data.coco import read_coco
from tag2box.data.dataset import Dataset
from tag2box.data.ilsvrc import read_ilsvrc
from tag2box.data.voc import read_voc
from tag2box.errors import DatasetError


def read_dataset(path: Path) -> Dataset:
    """COCO by its annotations (.json); VOC and ILSVRC DET by an image set of theirs (.txt).

    ``VOCdevkit/VOC2007/ImageSets/Main/trainval.txt`` is VOC07's trainval, ``ILSVRC/ImageSets/DET/val.txt`` is ILSVRC's
    val: the rest is found from there, where the publishers put it.
    """
    if path.suffix.lower() == ".json":
        return read_coco(path)
    full = path.absolute()
    folders = [folder.name for folder in full.parents]
    if full.suffix == ".txt" and folders[:2] == ["Main", "ImageSets"] and folders[2].startswith("VOC"):
        return read_voc(full.parents[3], year=folders[2].removeprefix("VOC"), split=full.stem)
    if full.suffix == ".txt" and folders[:2] == ["DET", "ImageSets"]:
        return read_ilsvrc(full.parents[2], split=full.stem)
    raise DatasetError(
        f"{path} names no dataset.",
        "a COCO annotation file (.json), VOC2007/ImageSets/Main/….txt or ILSVRC/ImageSets/DET/….txt",
        "give one of these files.",
    )

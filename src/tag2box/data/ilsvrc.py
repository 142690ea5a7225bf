"""The detection task of ILSVRC, in the layout of its archives."""

from __future__ import annotations

from pathlib import Path

from tag2box.data.dataset import Dataset
from tag2box.data.pascal_xml import read_lines, read_pascal_xml
from tag2box.data.splits import ilsvrc_synsets


def read_ilsvrc(root: Path, *, split: str = "val") -> Dataset:
    """One image set of ``ILSVRC``: "val", or a list of the training set such as "train_1".

    Classes get their English names instead of synset numbers. Boxes count from pixel 0.
    """
    lines = read_lines(root / "ImageSets" / "DET" / f"{split}.txt", f"the image set {split!r} of ILSVRC DET")
    folder, synsets = split.split("_")[0], ilsvrc_synsets()
    annotations, photos = root / "Annotations" / "DET" / folder, root / "Data" / "DET" / folder
    names = [line.split()[0] for line in lines]
    return Dataset(
        tuple(synsets.values()),
        tuple(
            read_pascal_xml(annotations / f"{name}.xml", photos / f"{name}.JPEG", name, first_pixel=0, names=synsets)
            for name in names
        ),
    )

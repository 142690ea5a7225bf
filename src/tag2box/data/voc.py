"""PASCAL VOC in the layout of its devkit."""

from __future__ import annotations

from pathlib import Path

from tag2box.data.dataset import Dataset
from tag2box.data.pascal_xml import read_lines, read_pascal_xml
from tag2box.data.splits import voc_classes


def read_voc(devkit: Path, *, year: str = "2007", split: str = "test") -> Dataset:
    """One image set of ``VOCdevkit``; boxes become zero-based with an exclusive upper edge, difficult ones ignored."""
    folder = devkit / f"VOC{year}"
    names = read_lines(folder / "ImageSets" / "Main" / f"{split}.txt", f"the image set {split!r} of VOC{year}")
    images = (name.split()[0] for name in names)
    return Dataset(
        voc_classes(),
        tuple(
            read_pascal_xml(
                folder / "Annotations" / f"{name}.xml", folder / "JPEGImages" / f"{name}.jpg", name, first_pixel=1
            )
            for name in images
        ),
    )

"""Class splits: the right numbers, no class on both sides."""

from __future__ import annotations

import pytest

from tag2box.data import coco_to_voc, held_out_classes, load_split, split_names
from tag2box.data.splits import HELD_OUT_KINDS, ilsvrc_synsets, kind_of_class, voc_classes
from tag2box.errors import DatasetError

SIZES = {
    "coco60": (60, 20),
    "coco63": (63, 17),
    "ilsvrc100": (100, 100),
    "ilsvrc148": (63, 148),
    "ilsvrc142": (63, 142),
    "voc1": (15, 5),
    "voc2": (15, 5),
    "voc3": (15, 5),
}


def test_every_split_has_its_size_and_its_status() -> None:
    assert set(split_names()) == set(SIZES)
    for name, (base, novel) in SIZES.items():
        split = load_split(name)
        assert (len(set(split.base)), len(set(split.novel))) == (base, novel)
        assert not set(split.base) & set(split.novel)
        assert split.status in {"verified", "probable", "reconstructed", "proposed"}
        assert split.source


def test_names_agree_between_datasets() -> None:
    assert len(voc_classes()) == 20
    assert {"aeroplane", "diningtable", "motorbike", "pottedplant", "sofa", "tvmonitor"} < set(voc_classes())
    assert set(coco_to_voc()) == set(load_split("coco60").novel)
    coco = {*load_split("coco60").base, *load_split("coco60").novel}
    assert coco == {*load_split("coco63").base, *load_split("coco63").novel}
    for name in ("voc1", "voc2", "voc3"):
        assert {*load_split(name).base, *load_split(name).novel} == set(voc_classes())
    det = set(ilsvrc_synsets().values())
    assert len(ilsvrc_synsets()) == len(det) == 200
    for name in ("ilsvrc100", "ilsvrc148", "ilsvrc142"):
        assert set(load_split(name).novel) <= det


def test_an_unknown_split_is_refused_with_the_known_ones() -> None:
    with pytest.raises(DatasetError, match=r"no split 'coco61'[\s\S]*coco60, coco63"):
        load_split("coco61")


def test_held_out_classes_are_whole_kinds() -> None:
    base, kinds = load_split("coco60").base, kind_of_class()
    held = held_out_classes(base)
    assert len(set(held)) == 19
    assert set(held) < set(base)
    assert held == held_out_classes(tuple(reversed(base)))
    assert {kinds[label] for label in held} == set(HELD_OUT_KINDS)
    assert not {kinds[label] for label in held} & {kinds[label] for label in set(base) - set(held)}
    assert held_out_classes(("a class that COCO lacks",)) == ()


def test_every_class_of_coco_has_one_kind() -> None:
    split = load_split("coco60")
    assert set(kind_of_class()) == {*split.base, *split.novel}
    assert len(set(kind_of_class().values())) == 12

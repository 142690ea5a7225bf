"""Rows of features as a store has them, and products with them."""

from tag2box.rows.compiled import KINDS, Compiled, compiled, multiplies_bytes
from tag2box.rows.directions import NO_LENS, Directions, Landmarks, Lens, from_center, row_lengths
from tag2box.rows.expecting import Expected, Known, Photos, Plane, RowSource, expect_in_numpy, softmax
from tag2box.rows.products import Rows, along, one_blas_thread, product, widened

__all__ = [
    "KINDS",
    "NO_LENS",
    "Compiled",
    "Directions",
    "Expected",
    "Known",
    "Landmarks",
    "Lens",
    "Photos",
    "Plane",
    "RowSource",
    "Rows",
    "along",
    "compiled",
    "expect_in_numpy",
    "from_center",
    "multiplies_bytes",
    "one_blas_thread",
    "product",
    "row_lengths",
    "softmax",
    "widened",
]

"""Array types and the checks that values make once, at birth.

n = rows, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tag2box.errors import NotFiniteError, NotUnitLengthError, ShapeError

Array = npt.NDArray[np.float64]
Float32s = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Strings = npt.NDArray[np.str_]

UNIT_TOLERANCE = 1e-3
"""How far from 1 the length of a direction may be: half-precision rounding passes, a forgotten normalisation fails."""


def sigmoid(logits: Array) -> Array:
    """One over one plus exp of minus the logits, without overflow at either end."""
    small = np.exp(-np.abs(logits))
    return np.where(logits >= 0.0, 1.0, small) / (1.0 + small)


def log_odds(probabilities: Array, epsilon: float) -> Array:
    """Log of p over one minus p, cut ``epsilon`` away from 0 and 1."""
    cut = np.clip(probabilities, epsilon, 1.0 - epsilon)
    return np.log(cut) - np.log1p(-cut)


def evenly(count: int, most: int) -> list[int]:
    """At most so many of ``count`` places, evenly spread over them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64)).tolist()


def frozen(values: npt.ArrayLike, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """A read-only array of ``dtype``: a copy, unless nobody can write to the values any more."""
    array = np.asarray(values, dtype=dtype, order="C")
    if _can_be_written(array):
        array = array.copy()
        array.flags.writeable = False
    return array


def _can_be_written(array: npt.NDArray[Any]) -> bool:
    """Whether the array, or the one that it is a view of, is writable."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return True
        owner = owner.base
    return False


def require_shape(name: str, array: npt.NDArray[Any], shape: Sequence[int | None]) -> None:
    """Refuse an array whose shape differs; ``None`` stands for any length."""
    fits = array.ndim == len(shape) and all(
        want is None or have == want for have, want in zip(array.shape, shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("any" if want is None else str(want) for want in shape)
        raise ShapeError(
            f"{name} has shape {array.shape}.",
            f"shape ({wanted})",
            "check which array is passed, and that all arrays of one image have the same number of rows.",
        )


def require_finite(name: str, array: npt.NDArray[Any]) -> None:
    """Refuse NaN and infinity, and say where the first one is."""
    bad = ~np.isfinite(array)
    if bad.any():
        where = tuple(int(index) for index in np.argwhere(bad)[0])
        raise NotFiniteError(
            f"{name} has {int(bad.sum())} values that are NaN or infinite; the first is {array[where]} at {where}.",
            "finite numbers",
            "look for a division by zero or an overflow where the array was computed.",
        )


def require_number(name: str, value: float, *, above: float = -np.inf, at_least: float = -np.inf) -> None:
    """Refuse a setting that is not a finite number in its range."""
    if not (np.isfinite(value) and value > above and value >= at_least):
        bound = f" above {above:g}" if above > -np.inf else f" of at least {at_least:g}" if at_least > -np.inf else ""
        raise ShapeError(f"{name} is {value}.", f"a finite number{bound}", f"choose another {name}.")


def require_unit_rows(name: str, rows: npt.NDArray[Any]) -> Array:
    """Refuse rows (n, d) whose length is not 1 within ``UNIT_TOLERANCE``; gives their exact lengths (n,)."""
    lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows, dtype=np.float64))  # (n,)
    bad = ~(np.abs(lengths - 1.0) <= UNIT_TOLERANCE)  # NaN is bad too
    if bad.any():
        row = int(np.argmax(bad))
        raise NotUnitLengthError(
            f"{name} has {int(bad.sum())} rows that are not of unit length; row {row} has length {lengths[row]:.6g}.",
            f"rows of length 1 (within {UNIT_TOLERANCE:g})",
            "pass raw features to ProposalBag.from_raw, or divide each row by its length.",
        )
    return lengths


def unit_rows(name: str, rows: npt.ArrayLike) -> tuple[Array, Array]:
    """Directions (n, d) and lengths (n,) of raw rows; a row of length zero is refused."""
    raw = np.asarray(rows, dtype=np.float64)
    require_shape(name, raw, (None, None))
    require_finite(name, raw)
    lengths = np.linalg.norm(raw, axis=1)  # (n,)
    if (lengths == 0).any():
        raise NotUnitLengthError(
            f"{name}: row {int(np.argmin(lengths))} is all zeros and has no direction.",
            "at least one value that is not zero in each row",
            "drop the region, or describe it with another feature.",
        )
    return raw / lengths[:, None], lengths

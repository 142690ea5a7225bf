"""The spread of base regions on disk: safetensors of about a megabyte."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save

from tag2box.errors import BackgroundFileError, reason_of
from tag2box.files import read_tensors, replacing
from tag2box.methods.detectors.likeness_head import Spread

FORMAT = "tag2box-spread-1"


def save_spread(path: Path, spread: Spread, fingerprint: str) -> None:
    """Write a spread and the extractor whose features it is of, atomically; seven digits are kept."""
    tensors = {"mean": spread.mean.astype(np.float32), "covariance": spread.covariance.astype(np.float32)}
    with replacing(path) as temporary:
        temporary.write_bytes(save(tensors, metadata={"format": FORMAT, "fingerprint": fingerprint}))


def load_spread(path: Path) -> tuple[Spread, str]:
    """Read a spread and the fingerprint of its extractor; a file of another kind is refused by name."""
    try:
        tensors, metadata = read_tensors(path, FORMAT)
        return Spread(tensors["mean"], tensors["covariance"]), metadata["fingerprint"]
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise BackgroundFileError(
            f"{path} cannot be read as a spread: {reason_of(error)}.",
            f"a file of format {FORMAT!r}",
            "copy the model's folder again, as a whole, or run tag2box background.",
        ) from error

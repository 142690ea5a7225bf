"""Torch modules as ONNX graphs."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

OPSET = 17


def onnx_graph(
    module: nn.Module, inputs: dict[str, Tensor], outputs: Sequence[str], free: Mapping[str, Sequence[int]]
) -> bytes:
    """The module at rest as an ONNX file; the axes in ``free`` of the tensors it names may have any length."""
    written = io.BytesIO()
    with warnings.catch_warnings(action="ignore"):  # the exporter warns of what it does itself
        torch.onnx.export(
            module.eval(),
            tuple(inputs.values()),
            written,  # type: ignore[arg-type]  # works, and leaves no file behind
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_axes={name: {axis: f"{name}_{axis}" for axis in axes} for name, axes in free.items()},
            opset_version=OPSET,
            dynamo=False,
        )
    return written.getvalue()

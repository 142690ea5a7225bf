"""A graph: named arrays in, named arrays out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, final

import numpy.typing as npt

from tag2box.errors import ModelError, reason_of

Arrays = dict[str, npt.NDArray[Any]]


class Graph(Protocol):
    """Half of a model, whoever runs it."""

    inputs: tuple[str, ...]

    def __call__(self, feeds: Mapping[str, npt.NDArray[Any]]) -> Arrays:
        """The outputs by name; inputs that the graph does not have are passed over."""
        ...


@final
class OnnxGraph:
    """A graph run by ONNX Runtime; several threads may call it."""

    def __init__(self, graph: Path | bytes, threads: int) -> None:
        """Load a file, or what would be in one; ``threads`` work on one call."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.force_spinning_stop", "1")  # leave the cores to the other graph
        try:
            source = graph if isinstance(graph, bytes) else str(graph)
            self._session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # ONNX Runtime's errors share no class
            name = "the exported graph" if isinstance(graph, bytes) else graph
            raise ModelError(
                f"{name} cannot be run: {reason_of(error)}.", "a graph of tag2box train", "export the model again."
            ) from error
        self.inputs = tuple(entry.name for entry in self._session.get_inputs())
        self._outputs = [entry.name for entry in self._session.get_outputs()]

    def __call__(self, feeds: Mapping[str, npt.NDArray[Any]]) -> Arrays:
        """The outputs by name."""
        values = self._session.run(None, {name: feeds[name] for name in self.inputs})
        return dict(zip(self._outputs, values, strict=True))

"""A connection to a Ray cluster, or to one on this machine."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from tag2box.errors import ClusterError, reason_of

LOCAL = "local"
PATIENCE = 5.0
"""Seconds in which somebody must answer at an address."""
OBJECT_STORE_BYTES = 100 * 2**20
"""Tasks exchange names, boxes and counts, never photos or features."""
RETRIES = 3
"""How often a task that was lost is done again."""


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Ray, connected to ``address`` or, for "local", to a cluster of this machine's cores; it tells nobody.

    Within a connection another one is the same.
    """
    if find_spec("ray") is None:
        raise ClusterError(
            f"--cluster {address} was asked for, and Ray is not installed.",
            "the package ray",
            "pip install 'tag2box[cluster]', on every machine of the cluster.",
        )
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    if ray.is_initialized():
        yield ray
        return
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        _require_answer(address)
        if address == LOCAL:
            ray.init(address, include_dashboard=False, object_store_memory=OBJECT_STORE_BYTES, **quiet)
        else:
            ray.init(address, **quiet)
    except (OSError, ValueError, RuntimeError) as error:
        raise ClusterError(
            f"no Ray cluster answers at {address}: {reason_of(error)}",
            "the address that `ray start --head` prints, or local",
            "start the cluster, or look at it with `ray status`.",
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def losses(ray: Any) -> tuple[type[Exception], ...]:
    """What is raised when a task was lost again and again, with its process or its machine."""
    return ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError, ray.exceptions.NodeDiedError


def _require_answer(address: str) -> None:
    """Refuse a host and port at which nobody listens: Ray would wait for minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdecimal() and "/" not in host:
        socket.create_connection((host, int(port)), PATIENCE).close()

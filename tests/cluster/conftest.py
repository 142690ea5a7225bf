"""Three machines on this one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """Three machines, each with one core."""
    pytest.importorskip("ray", reason="Ray is not installed: make cluster installs it")
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    own = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
    machines = Cluster(initialize_head=True, head_node_args={**own, "include_dashboard": False})
    for _ in range(2):
        machines.add_node(**own)
    machines.wait_for_nodes()
    yield machines
    machines.shutdown()

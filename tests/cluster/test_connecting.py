"""What is said where there is no Ray, or no cluster."""

from __future__ import annotations

import pytest

from tag2box.cluster import connecting
from tag2box.errors import ClusterError


def test_without_ray_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "find_spec", lambda name: None)
    with pytest.raises(ClusterError, match=r"pip install 'tag2box\[cluster\]'"), connecting.connected("local"):
        pass


def test_nobody_waits_for_a_cluster_that_is_not_there() -> None:
    pytest.importorskip("ray", reason="Ray is not installed: make cluster installs it")
    nowhere = "127.0.0.1:1"
    with pytest.raises(ClusterError, match=f"no Ray cluster answers at {nowhere}"), connecting.connected(nowhere):
        pass

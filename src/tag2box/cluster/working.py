"""Work that is cut into jobs: each is a task on some machine, and is done again elsewhere if that machine is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from tag2box.cluster.connecting import RETRIES, connected, losses
from tag2box.errors import ClusterError, Tag2BoxError

Job = TypeVar("Job")
Answer = TypeVar("Answer")


def work_on_cluster(address: str, work: Callable[[Job], Answer], jobs: Sequence[Job]) -> Iterator[Answer]:
    """What ``work`` makes of each job, in their order: the same for any number of machines."""
    if not jobs:
        return
    with connected(address) as ray:
        task = ray.remote(num_cpus=1, max_retries=RETRIES)(work)
        for answer in [task.remote(job) for job in jobs]:
            yield _answer(ray, answer)


def _answer(ray: Any, answer: Any) -> Any:
    try:
        return ray.get(answer)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, Tag2BoxError):
            raise error.cause from None
        raise
    except losses(ray) as error:
        raise ClusterError(
            f"a task was lost {RETRIES + 1} times with the process or the machine that worked on it.",
            "machines that stay, with memory for one task a core",
            "look at them with `ray status`; the same command goes on where this one stopped.",
        ) from error

"""Work on many machines, by Ray (``pip install 'tag2box[cluster]'``)."""

from tag2box.cluster.connecting import connected
from tag2box.cluster.extracting import extract_on_cluster
from tag2box.cluster.working import work_on_cluster

__all__ = ["connected", "extract_on_cluster", "work_on_cluster"]

"""Work on many machines, by Ray (``pip install 'tag2box[cluster]'``)."""

from tag2box.cluster.extracting import extract_on_cluster

__all__ = ["extract_on_cluster"]

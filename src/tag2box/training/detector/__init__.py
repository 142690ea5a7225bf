"""The base detector: a class-agnostic Faster R-CNN and how it is trained. Needs the extra ``train``."""

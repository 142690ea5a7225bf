"""From photos to bags; for now, from files to pixels."""

from tag2box.extract.photos import Photo, load_photo

__all__ = ["Photo", "load_photo"]

"""Which things are in which photos, in all the ways that people write it down."""

from tag2box.data.tags.any_source import read_tags
from tag2box.data.tags.tag_set import TagSet
from tag2box.data.tags.tagged_photo import TaggedPhoto

__all__ = ["TagSet", "TaggedPhoto", "read_tags"]

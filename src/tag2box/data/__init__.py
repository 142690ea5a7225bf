"""What is known of photos: tags, boxes and datasets in people's own formats, and the episodes drawn from them."""

from tag2box.data.dataset import Dataset, DatasetImage, TrueBox, labels_all
from tag2box.data.doors import read_dataset, read_tags, read_truth
from tag2box.data.draws import Draws
from tag2box.data.episodes import (
    ClassDraw,
    EpisodePool,
    EpisodeSampler,
    class_of_an_object,
    classes_by_images,
    classes_uniformly,
    pool_of,
)
from tag2box.data.formats import FORMATS, Format, Written, write_formats
from tag2box.data.formats.coco import read_coco
from tag2box.data.labelled import FoundBox, LabelledPhoto, LabelledPhotos
from tag2box.data.photo_files import PhotoFile, find_photos
from tag2box.data.splits import Split, coco_to_voc, held_out_classes, load_split, split_names
from tag2box.data.tags import TaggedPhoto, TagSet

__all__ = [
    "FORMATS",
    "ClassDraw",
    "Dataset",
    "DatasetImage",
    "Draws",
    "EpisodePool",
    "EpisodeSampler",
    "Format",
    "FoundBox",
    "LabelledPhoto",
    "LabelledPhotos",
    "PhotoFile",
    "Split",
    "TagSet",
    "TaggedPhoto",
    "TrueBox",
    "Written",
    "class_of_an_object",
    "classes_by_images",
    "classes_uniformly",
    "coco_to_voc",
    "find_photos",
    "held_out_classes",
    "labels_all",
    "load_split",
    "pool_of",
    "read_coco",
    "read_dataset",
    "read_tags",
    "read_truth",
    "split_names",
    "write_formats",
]

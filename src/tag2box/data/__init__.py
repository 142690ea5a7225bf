"""What tasks are made of: datasets, splits of their classes, and the episodes drawn from them."""

from tag2box.data.any_dataset import read_dataset
from tag2box.data.coco import read_coco
from tag2box.data.dataset import Dataset, DatasetImage
from tag2box.data.draws import Draws
from tag2box.data.episode_files import load_episodes, save_episodes
from tag2box.data.episodes import (
    ClassDraw,
    EpisodePool,
    EpisodeSampler,
    class_of_an_object,
    classes_by_images,
    classes_uniformly,
    pool_of,
)
from tag2box.data.ilsvrc import read_ilsvrc
from tag2box.data.splits import Split, coco_to_voc, hold_out_classes, load_split, split_names
from tag2box.data.voc import read_voc

__all__ = [
    "ClassDraw",
    "Dataset",
    "DatasetImage",
    "Draws",
    "EpisodePool",
    "EpisodeSampler",
    "Split",
    "class_of_an_object",
    "classes_by_images",
    "classes_uniformly",
    "coco_to_voc",
    "hold_out_classes",
    "load_episodes",
    "load_split",
    "pool_of",
    "read_coco",
    "read_dataset",
    "read_ilsvrc",
    "read_voc",
    "save_episodes",
    "split_names",
]

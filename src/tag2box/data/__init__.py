"""What tasks are made of: pools of tagged images and the episodes drawn from them."""

from tag2box.data.draws import Draws
from tag2box.data.episode_files import load_episodes, save_episodes
from tag2box.data.episodes import EpisodePool, EpisodeSampler, classes_by_images, classes_uniformly

__all__ = [
    "Draws",
    "EpisodePool",
    "EpisodeSampler",
    "classes_by_images",
    "classes_uniformly",
    "load_episodes",
    "save_episodes",
]

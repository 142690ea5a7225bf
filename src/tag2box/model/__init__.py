"""One folder and one type for everything that a trained detector knows."""

from tag2box.model.knowledge_file import KNOWLEDGE_NAME, knowledge_hash, load_knowledge, save_knowledge
from tag2box.model.model import DETECTOR, LOCALIZER, Model, users_learner
from tag2box.model.settings import SETTINGS_NAME, Settings, load_settings, save_settings

__all__ = [
    "DETECTOR",
    "KNOWLEDGE_NAME",
    "LOCALIZER",
    "SETTINGS_NAME",
    "Model",
    "Settings",
    "knowledge_hash",
    "load_knowledge",
    "load_settings",
    "save_knowledge",
    "save_settings",
    "users_learner",
]

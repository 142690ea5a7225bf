"""The lineup: every method by name, ready to be built."""

from tag2box.methods.lineup.entries import LINEUP, Chosen, Entry, guided_vmf_mil, objectness_prior
from tag2box.methods.lineup.ingredients import Ingredients, load_ingredients, save_ingredients
from tag2box.methods.lineup.settings import SETTINGS_NAME, add_choice, choice_beside, load_choice, save_choice

__all__ = [
    "LINEUP",
    "SETTINGS_NAME",
    "Chosen",
    "Entry",
    "Ingredients",
    "add_choice",
    "choice_beside",
    "guided_vmf_mil",
    "load_choice",
    "load_ingredients",
    "objectness_prior",
    "save_choice",
    "save_ingredients",
]

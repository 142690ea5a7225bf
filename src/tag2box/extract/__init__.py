"""From photos to bags: pictures in, regions with features out."""

from tag2box.extract.batch import BatchOutcome, each_result, extract_photos
from tag2box.extract.card import BOX_GRAPH, CARD_NAME, PHOTO_GRAPH, Card, read_card, write_card
from tag2box.extract.extractor import Descriptions, Extractor, model_folder, shipped_model
from tag2box.extract.graphs import OnnxGraph
from tag2box.extract.looks import Look, SeenPhoto
from tag2box.extract.objectness import Candidates, Objectness
from tag2box.extract.photos import Photo, as_photo, load_photo, on_canvas, open_pixels
from tag2box.extract.proposals import ProposalRules
from tag2box.extract.sources import PhotoFile, find_photos

__all__ = [
    "BOX_GRAPH",
    "CARD_NAME",
    "PHOTO_GRAPH",
    "BatchOutcome",
    "Candidates",
    "Card",
    "Descriptions",
    "Extractor",
    "Look",
    "Objectness",
    "OnnxGraph",
    "Photo",
    "PhotoFile",
    "ProposalRules",
    "SeenPhoto",
    "as_photo",
    "each_result",
    "extract_photos",
    "find_photos",
    "load_photo",
    "model_folder",
    "on_canvas",
    "open_pixels",
    "read_card",
    "shipped_model",
    "write_card",
]

"""From photos to bags: pictures in, regions with features out."""

from tag2box.data.photo_files import PhotoFile, find_photos
from tag2box.extract.batch import (
    BatchOutcome,
    each_bag,
    each_result,
    extract_photos,
    look_at,
    require_unchanged,
    store_header,
    unreadable_photos,
)
from tag2box.extract.card import BOX_GRAPH, CARD_NAME, PHOTO_GRAPH, REGIONS, Card, read_card, write_card
from tag2box.extract.extractor import Describer, Extracted, Extractor, Picture, Proposed, Proposer
from tag2box.extract.objectness import Candidates, Objectness
from tag2box.extract.photos import Photo, as_photo, load_photo, on_canvas, open_pixels
from tag2box.extract.proposals import Look, ProposalRules, SeenPhoto
from tag2box.extract.two_graphs import Descriptions, OnnxGraph, TwoGraphs, model_folder, open_extractor, shipped_model

__all__ = [
    "BOX_GRAPH",
    "CARD_NAME",
    "PHOTO_GRAPH",
    "REGIONS",
    "BatchOutcome",
    "Candidates",
    "Card",
    "Describer",
    "Descriptions",
    "Extracted",
    "Extractor",
    "Look",
    "Objectness",
    "OnnxGraph",
    "Photo",
    "PhotoFile",
    "Picture",
    "ProposalRules",
    "Proposed",
    "Proposer",
    "SeenPhoto",
    "TwoGraphs",
    "as_photo",
    "each_bag",
    "each_result",
    "extract_photos",
    "find_photos",
    "load_photo",
    "look_at",
    "model_folder",
    "on_canvas",
    "open_extractor",
    "open_pixels",
    "read_card",
    "require_unchanged",
    "shipped_model",
    "store_header",
    "unreadable_photos",
    "write_card",
]

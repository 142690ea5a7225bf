"""A model's card: what it is, what it was trained on, how good it is, and the hashes of its files."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self, final

from tag2box.errors import ModelError, reason_of
from tag2box.extract.objectness import OBJECTNESS_ENTRIES, Objectness
from tag2box.extract.proposals import ProposalRules
from tag2box.files import write_json

PHOTO_GRAPH = "photo.onnx"
BOX_GRAPH = "boxes.onnx"
CARD_NAME = "card.json"
REGIONS = 300
"""Regions of a photo, beside the whole, unless another number is asked for."""
OF_OLD_CARDS = {"fitted": False, "core": False, "objectness_share": 0.0, "bits": 32}
"""What was so before a card could say it."""
CODE_VERSION = 1
"""Of the code before, between and behind the graphs; it rises with every change of what a bag holds."""


@final
@dataclass(frozen=True)
class Card:
    """Everything about a model that is not a weight."""

    image_size: int
    """Pixels of the longest side of a photo that the network learned with"""
    pooled: int
    """The first so many entries of a feature are averages of backbone maps …"""
    embedding: int
    """… and the rest is learned from the base classes"""
    hashes: dict[str, str]
    """SHA-256 of each graph"""
    recipe: dict[str, Any]
    trained_on: dict[str, Any]
    rules: ProposalRules = field(default_factory=ProposalRules)
    objectness: Objectness = field(default_factory=Objectness)
    fitted: bool = False
    """Whether a photo's canvas is no larger than it has to be; else it is a square"""
    core: bool = False
    """Whether a feature also says what the middle of its region shows (12.8)"""
    objectness_share: float = 0.0
    """How much of a cosine two further entries of a feature decide, which say how object-like its region is; 0 leaves
    them out"""
    bits: int = 32
    """Of the numbers that the first graph computes with"""
    metrics: dict[str, Any] = field(default_factory=dict)
    """Measured by ``tag2box measure``"""

    @classmethod
    def of(
        cls,
        folder: Path,
        image_size: int,
        pooled: int,
        embedding: int,
        recipe: dict[str, Any],
        trained_on: dict[str, Any],
    ) -> Self:
        """The card of freshly exported graphs."""
        hashes = {name: file_hash(folder / name) for name in (PHOTO_GRAPH, BOX_GRAPH)}
        said = {name: recipe[name] for name in ("core", "objectness_share") if name in recipe}
        return cls(image_size, pooled, embedding, hashes, recipe, trained_on, **said)

    @property
    def dimension(self) -> int:
        """Length d of a feature."""
        return self.described + (OBJECTNESS_ENTRIES if self.objectness_share else 0)

    @property
    def described(self) -> int:
        """Entries of a feature that say how its region looks: averages, embedding, averages of the core."""
        return self.pooled + self.embedding + self.pooled * self.core

    @property
    def halvings(self) -> tuple[int, ...]:
        """The maps that the core of a region is described by, by how often the input was halved for them."""
        return tuple(self.recipe["pooled"]) if self.core else ()

    @property
    def sides(self) -> tuple[int, ...]:
        """Longest side of a photo in each look, in pixels: multiples of 32, as a network wants them."""
        return tuple(32 * max(1, round(self.image_size * look / 32)) for look in self.rules.looks)

    @property
    def fingerprint(self) -> str:
        """Of the extractor that proposes the usual number of regions."""
        return self.fingerprint_of(REGIONS)

    def fingerprint_of(self, regions: int) -> str:
        """What stores and class files remember of an extractor: the same fingerprint, the same bags.

        It covers everything that changes a bag. What is as usual leaves no mark, so that stores from before it was
        covered stay valid.
        """
        known = "".join(self.hashes[name] for name in sorted(self.hashes)) + repr((self.rules, self.objectness))
        unusual = {
            name: value
            for name, value, usual in (
                ("code", CODE_VERSION, 1),
                ("image_size", self.image_size, self.recipe.get("image_size")),
                ("regions", regions, REGIONS),
                ("fitted", self.fitted, False),
                ("core", self.core, False),
                ("objectness_share", self.objectness_share, 0.0),
            )
            if value != usual
        }
        together = hashlib.sha256((known + (repr(unusual) if unusual else "")).encode())
        return f"tag2box-{self.recipe.get('backbone', 'model')}-{together.hexdigest()[:16]}"


def file_hash(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_card(path: Path, card: Card) -> None:
    """Write a card as JSON."""
    write_json(path, asdict(card))


def add_metrics(folder: Path, name: str, figures: dict[str, Any]) -> None:
    """Put figures into the card of the model in ``folder``, beside others that it has under that name."""
    card = read_card(folder)
    metrics = card.metrics | {name: card.metrics.get(name, {}) | figures}
    write_card(folder / CARD_NAME, replace(card, metrics=metrics))


def read_card(folder: Path) -> Card:
    """The card of the model in ``folder``, whose files must be those it was written for."""
    try:
        content = json.loads((folder / CARD_NAME).read_text(encoding="utf-8"))
        rules = ProposalRules(**content["rules"] | {"looks": tuple(content["rules"]["looks"])})
        known = OF_OLD_CARDS | content
        known = {entry.name: known[entry.name] for entry in fields(Card)}
        card = Card(**known | {"rules": rules, "objectness": Objectness(**content["objectness"])})
        found = {name: file_hash(folder / name) for name in (PHOTO_GRAPH, BOX_GRAPH)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(
            f"{folder} holds no usable model: {reason_of(error)}.",
            f"a folder with {CARD_NAME}, {PHOTO_GRAPH} and {BOX_GRAPH}, as tag2box train writes it",
            "give the folder `model` of a training run.",
        ) from error
    if card.core and card.recipe.get("projected"):
        raise ModelError(
            f"{folder / CARD_NAME} wants the cores of regions described, but its second graph projects averages.",
            "core only with averages as they are (projected = 0 in the recipe)",
            "set core to false.",
        )
    if found != card.hashes:
        wrong = [name for name in found if found[name] != card.hashes.get(name)]
        raise ModelError(
            f"{folder / wrong[0]} is not the file that its card describes.",
            f"SHA-256 {card.hashes.get(wrong[0])}",
            "copy the model's folder again, as a whole.",
        )
    return card

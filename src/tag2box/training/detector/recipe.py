"""How a detector is trained, as a TOML file says it."""

from __future__ import annotations

import math
import tomllib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, final

from tag2box.errors import RecipeError

BACKBONES = ("lite0", "lcnet", "vgg16", "resnet50")
AT_LEAST = {
    "steps": 1,
    "batch": 1,
    "regions": 3,  # one on an object, one beside, one elsewhere
    "checkpoint_every": 1,
    "projected": 0,
    "embedding": 1,
    "embedding_share": 0,
    "objectness_share": 0,
    "complete_repeats": 1,
    "zoom": 1,
    "closest": 1,
    "recolour": 0,
    "margin": 0,
    "learned_blocks": 0,
    "backbone_pull": 0,
    "learning_rate": 0,
    "backbone_learning_rate": 0,
    "weight_decay": 0,
    "warm_up": 0,
    "seed": 0,
}
"""The smallest value that makes sense."""


@final
@dataclass(frozen=True)
class Recipe:
    """Every setting of a training run; the defaults are those of the model that ships."""

    backbone: str = "lite0"
    backbone_weights: str = "imagenet"
    """``imagenet``, ``random`` or a file"""
    learned_blocks: int = 0
    """How many of the backbone's last blocks learn. The others keep what they know of classes that are not in the data,
    and run three times as fast"""
    backbone_learning_rate: float = 1e-4
    backbone_pull: float = 0.0
    """How strongly learned blocks are drawn back to where they began, as a decay of the way from there"""
    image_size: int = 480
    """Pixels of the longest side; a multiple of 32"""
    channels: int = 96
    region_channels: int = 128
    margin: int = 0
    """Bins around a region's own that the second stage sees as well: what tells a whole thing from a part of it"""
    pooled: tuple[int, ...] = (4, 5)
    """Which backbone maps, of stride 2ⁿ, are averaged under a region to describe it"""
    projected: int = 0
    """Dimension that these averages are brought to when the training has ended; 0 leaves them as they are"""
    embedding: int = 80
    """Dimension of what is learned from the base classes"""
    embedding_share: float = 0.3
    """How much of a cosine the embedding decides; 0 leaves it out"""
    core: bool = True
    """Whether a feature also says what the middle of its region shows"""
    objectness_share: float = 0.2
    """How much of a cosine two more entries decide, which say how object-like a region is; 0 leaves them out"""
    steps: int = 2000
    batch: int = 8
    regions: int = 48
    """Regions of an image that the second stage learns from in one step"""
    learning_rate: float = 2e-3
    weight_decay: float = 1e-3
    warm_up: int = 200
    partial_files: bool = True
    """Whether photos of files that do not label every class count as photos whose objects are all known, if they show
    no other class: what they call nothing is sometimes wrong, and worth more than none (decision 9)"""
    complete_repeats: int = 1
    """How often in an epoch a photo is seen whose objects are all known: only these teach what is nothing"""
    zoom: float = 1.25
    """Photos are shrunk by a random factor up to this one, so that objects come in more sizes"""
    closest: float = 1.0
    """… and shown up to so many times as large, a part of them then"""
    recolour: float = 0.0
    """Brightness and contrast are changed by a random factor of up to e to this"""
    stretch_squares: bool = True
    """Square photos are taken for squashed ones, and stretched to 4:3 or 3:4 at random"""
    seed: int = 0
    checkpoint_every: int = 100

    def __post_init__(self) -> None:
        self._check_choices()
        for name, least in AT_LEAST.items():
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) >= least):
                raise _wrong(name, getattr(self, name), f"a number of at least {least}")
        for name in ("embedding_share", "objectness_share"):
            if getattr(self, name) >= 1.0:
                raise _wrong(name, getattr(self, name), "a number below 1")
        if self.core and self.projected:
            raise _wrong("core", self.core, "false where averages are projected: those of cores are not")

    def _check_choices(self) -> None:
        if self.backbone not in BACKBONES:
            raise _wrong("backbone", self.backbone, f"one of {', '.join(BACKBONES)}")
        if self.image_size % 32 or self.image_size < 64:
            raise _wrong("image_size", self.image_size, "a multiple of 32, at least 64")
        if not self.pooled or not set(self.pooled) <= {3, 4, 5}:
            raise _wrong("pooled", list(self.pooled), "a list of 3, 4 and 5")
        for name in ("channels", "region_channels"):
            if getattr(self, name) < 8 or getattr(self, name) % 8:
                raise _wrong(name, getattr(self, name), "a multiple of 8")

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON keeps them."""
        return asdict(self) | {"pooled": list(self.pooled)}


def read_recipe(path: Path) -> Recipe:
    """The recipe in a TOML file; a key that is not a setting is an error."""
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RecipeError(f"recipe {path} cannot be read: {error}.", "a TOML file", "check the file.") from error
    return recipe_from(settings, str(path))


def recipe_from(settings: dict[str, Any], source: str) -> Recipe:
    """The recipe with these settings, each of the right kind."""
    kinds = {field.name: type(field.default) for field in fields(Recipe)}
    for name, value in settings.items():
        if name not in kinds:
            raise RecipeError(
                f"recipe {source} has the unknown key {name!r}.", f"keys among {', '.join(kinds)}", "correct the key."
            )
        if not _is_of_kind(value, kinds[name]):
            raise _wrong(name, value, f"a value of type {kinds[name].__name__}")
    if "pooled" in settings:
        settings = settings | {"pooled": tuple(settings["pooled"])}
    return Recipe(**settings)


def _is_of_kind(value: Any, kind: type) -> bool:
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is tuple:
        return isinstance(value, list) and all(type(item) is int for item in value)
    return type(value) is kind


def _wrong(name: str, value: object, expected: str) -> RecipeError:
    return RecipeError(f"{name} = {value!r} does not make a recipe.", expected, f"change {name}.")

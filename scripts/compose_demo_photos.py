"""Composes the demo photos of the package: things of four classes, among other things, on real photographs.

Into the folder of the demo go ``photos/`` (6 tagged photos for each class, and ``metadata.csv`` with their tags),
``queries/`` (3 photos for each class) and ``truth.json`` (where every thing of a class is, in the layout of COCO).
The pictures are those that the table in ``ATTRIBUTION.md`` of that folder lists: without a credit there, no picture
gets into a photo. They come from two Debian packages and two wheels, unpacked side by side:

    mkdir sources && cd sources
    apt-get download sweethome3d-furniture=1.8-1 lomiri-wallpapers-16.04=20.04.0-2
    for deb in *.deb; do dpkg-deb -x "$deb" "${deb%%_*}"; done
    pip download --no-deps scikit-image==0.26.0 scikit-learn==1.9.1
    unzip -d scikit-image scikit_image-*.whl && unzip -d scikit-learn scikit_learn-*.whl

    python scripts/compose_demo_photos.py sources src/tag2box/assets/demo

The same pictures and the same Pillow give the same files.
"""

from __future__ import annotations

import argparse
import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, cycle, islice, repeat
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter

SEED = 7
SUPPORTS, QUERIES = 6, 3
LONG_SIDE, SHORT_SIDE = 400, 300
QUALITY = 85
MARGIN = 6
"""Pixels between a thing and the edge of its photo."""
OPAQUE = 128
"""Alpha from which a pixel belongs to a thing; boxes are drawn around such pixels."""
LEAST_VISIBLE = 0.9
"""Share of every thing that nothing stands in front of, at least."""
MOST_TRIES = 5_000
REACH_TAGGED, REACH_OTHER = (0.55, 0.75), (0.2, 0.3)
"""Longer side of a thing, as a share of the shorter side of its photo."""
BACKGROUND, OTHER = "background", "other"
"""What a picture serves as, if it does not show a class."""
GROUNDS = {
    "aitzgorri_by_Aitzol_Berasategi.jpg": (0.0, 0.66, 1.0),
    "life_by_Aitzol_Berasategi.jpg": (0.0, 0.55, 1.0),
    "picosdeeuropa_by_Aitzol_Berasategi.jpg": (0.0, 0.62, 1.0),
    "sunset_by_Aitzol_Berasategi.jpg": (0.0, 0.66, 1.0),
    "friends_by_Aitzol_Berasategi.jpg": (0.64, 0.75, 1.0),  # the friends above are dogs, a class of ours
    "seeding_by_Clements_Engelhardt.jpg": (0.0, 0.6, 1.0),
    "Wine_by_Jakkub_Mede.jpg": (0.0, 0.3, 0.62),
    "Picture_0B_by_freespace.jpg": (0.0, 0.35, 1.0),
    "Picture_1A_by_freespace.jpg": (0.0, 0.45, 1.0),
    "coffee.png": (0.0, 0.4, 1.0),
    "china.jpg": (0.0, 0.75, 1.0),
    "flower.jpg": (0.0, 0.5, 1.0),
}
"""Of each background, as shares of its height: where the part that is used begins, where the ground on which things
stand begins, where that part ends."""

T = TypeVar("T")


@dataclass(frozen=True)
class Source:
    """A picture in an unpacked package; ``member`` is its name in an archive, or empty."""

    file: Path
    member: str

    def read(self) -> Image.Image:
        """The picture, with alpha."""
        if not self.member:
            return Image.open(self.file).convert("RGBA")
        with zipfile.ZipFile(self.file) as archive:
            return Image.open(io.BytesIO(archive.read(self.member))).convert("RGBA")


@dataclass(frozen=True)
class Plan:
    """What a photo is to show: the things of its tags, in their order, then other things."""

    file_name: str
    tags: tuple[str, ...]
    things: tuple[Source, ...]
    background: Source
    size: tuple[int, int]


@dataclass(frozen=True)
class Thing:
    """A cut-out in its place in a photo."""

    kind: str
    cutout: Image.Image
    left: int
    bottom: int

    @property
    def corner(self) -> tuple[int, int]:
        """Left and top."""
        return self.left, self.bottom - self.cutout.height

    def mask(self, size: tuple[int, int]) -> np.ndarray:
        """Pixels of a photo of this (width, height) that belong to the thing, whatever stands in front."""
        canvas = Image.new("L", size)
        canvas.paste(self.cutout.getchannel("A"), self.corner)
        return np.asarray(canvas) >= OPAQUE  # (H, W)


def read_sources(table: str, sources: Path) -> dict[str, list[Source]]:
    """The pictures by what they serve as, from the rows of the table of sources."""
    found: dict[str, list[Source]] = {}
    for line in table.splitlines():
        if line.endswith("` |"):
            role, *_, package, place = [cell.strip() for cell in line.strip("|").split("|")]
            file, _, member = place.strip("`").partition(": ")
            found.setdefault(role, []).append(Source(sources / package.split()[0] / file, member))
    return found


def plan_photos(sources: dict[str, list[Source]], rng: np.random.Generator) -> Iterator[Plan]:
    """Every photo of the demo; each third carries a second tag, each third is upright."""
    classes = [role for role in sources if role not in {BACKGROUND, OTHER}]
    looks = {name: shuffled(rng, sources[name]) for name in classes}
    backgrounds = shuffled(rng, sources[BACKGROUND])  # more than photos of a class: none comes twice in a class
    others = shuffled(rng, sources[OTHER])
    for index, name in enumerate(classes):
        for number in range(1, SUPPORTS + QUERIES + 1):
            tags = (name, classes[(index + number // 3) % len(classes)])[: 2 if number % 3 == 0 else 1]
            things = (*(next(looks[tag]) for tag in tags), *islice(others, int(rng.integers(1, 4 - len(tags)))))
            folder = "photos" if number <= SUPPORTS else "queries"
            size = (SHORT_SIDE, LONG_SIDE) if number % 3 == 2 else (LONG_SIDE, SHORT_SIDE)
            yield Plan(f"{folder}/{name}-{number}.jpg", tags, things, next(backgrounds), size)


def shuffled(rng: np.random.Generator, items: Sequence[T]) -> Iterator[T]:
    """The items in random order, again and again."""
    return cycle([items[i] for i in rng.permutation(len(items))])


def crop_background(plan: Plan, rng: np.random.Generator) -> tuple[Image.Image, int]:
    """A random part of the background, in the size of the photo, and the row below which things stand."""
    picture = plan.background.read().convert("RGB")
    first, ground, last = np.array(GROUNDS[plan.background.file.name]) * picture.height
    scale = rng.uniform(0.65, 1.0) * min(picture.width / plan.size[0], (last - first) / plan.size[1])
    width, height = plan.size[0] * scale, plan.size[1] * scale
    left = rng.uniform(0, picture.width - width)
    top = rng.uniform(np.clip(ground - 0.65 * height, first, last - height), last - height)
    feet = round(max((ground - top) / scale, 0.4 * plan.size[1]))
    return picture.resize(plan.size, Image.Resampling.LANCZOS, (left, top, left + width, top + height)), feet


def trim(cutout: Image.Image) -> Image.Image:
    """The smallest part of a cut-out with all of its opaque pixels."""
    return cutout.crop(cutout.getchannel("A").point(lambda alpha: 255 * (alpha >= OPAQUE)).getbbox())


def vary(cutout: Image.Image, reach: float, light: float, rng: np.random.Generator) -> Image.Image:
    """The cut-out with a longer side of ``reach`` pixels, maybe mirrored, a bit turned, in the light of the photo."""
    if rng.random() < 0.5:
        cutout = cutout.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    angle = float(np.clip(rng.normal(0.0, 5.0), -15.0, 15.0))
    cutout = trim(cutout.rotate(angle, Image.Resampling.BICUBIC, expand=True))
    scale = reach / max(cutout.size)
    cutout = cutout.resize((round(cutout.width * scale), round(cutout.height * scale)), Image.Resampling.LANCZOS)
    cutout = trim(cutout)
    colours = ImageEnhance.Brightness(cutout.convert("RGB")).enhance(light * rng.uniform(0.92, 1.1))
    colours = ImageEnhance.Contrast(colours).enhance(rng.uniform(0.9, 1.12))
    colours.putalpha(cutout.getchannel("A"))
    return colours


def place(plan: Plan, cutouts: Sequence[Image.Image], feet: int, rng: np.random.Generator) -> list[Thing]:
    """The things from back to front: standing below the row ``feet``, enough of each of them seen."""
    width, height = plan.size
    for _ in range(MOST_TRIES):
        things = []
        for kind, cutout in zip(chain(plan.tags, repeat(OTHER)), cutouts, strict=False):
            left = int(rng.integers(MARGIN, width - MARGIN - cutout.width + 1))
            bottom = int(rng.integers(max(feet, MARGIN + cutout.height), height - MARGIN + 1))
            things.append(Thing(kind, cutout, left, bottom))
        things.sort(key=lambda thing: thing.bottom)
        if all(seen.sum() >= LEAST_VISIBLE * thing.mask(plan.size).sum() for thing, seen in visible(things, plan.size)):
            return things
    raise RuntimeError(f"no room for the things of {plan.file_name} in {MOST_TRIES} tries; make them smaller.")


def visible(things: Sequence[Thing], size: tuple[int, int]) -> list[tuple[Thing, np.ndarray]]:
    """Each thing with the pixels (H, W) of it that no later thing covers."""
    covered = np.zeros(size[::-1], dtype=bool)  # (H, W)
    seen = []
    for thing in reversed(things):
        mask = thing.mask(size)
        seen.append((thing, mask & ~covered))
        covered |= mask
    return seen[::-1]


def shadow(thing: Thing, size: tuple[int, int]) -> Image.Image:
    """How dark a thing makes what is behind and below it: a soft copy of its shape, and a pool at its foot."""
    (left, top), (width, height) = thing.corner, thing.cutout.size
    shape, pool = Image.new("L", size), Image.new("L", size)
    shape.paste(thing.cutout.getchannel("A").point(lambda alpha: alpha * 0.3), (left + 4, top + 4))
    foot = (left + 0.06 * width, thing.bottom - 0.1 * height, left + 0.98 * width, thing.bottom + 5)
    ImageDraw.Draw(pool).ellipse(foot, fill=130)
    soft = [np.asarray(layer.filter(ImageFilter.GaussianBlur(5))) for layer in (shape, pool)]
    return Image.fromarray(np.maximum(*soft))


def paint(background: Image.Image, things: Sequence[Thing]) -> Image.Image:
    """The photo: every thing, from back to front, on its shadow."""
    photo = background.copy()
    for thing in things:
        photo.paste((0, 0, 0), mask=shadow(thing, photo.size))
        photo.paste(thing.cutout, thing.corner, thing.cutout)
    return photo


def compose(plan: Plan, rng: np.random.Generator) -> tuple[Image.Image, list[Thing]]:
    """The photo, and its things from back to front."""
    background, feet = crop_background(plan, rng)
    light = float(np.clip(0.72 + 0.6 * np.asarray(background.convert("L")).mean() / 255, 0.8, 1.08))
    cutouts = []
    for index, source in enumerate(plan.things):
        reach = rng.uniform(*(REACH_TAGGED if index < len(plan.tags) else REACH_OTHER)) * SHORT_SIDE
        cutouts.append(vary(trim(source.read()), reach, light, rng))
    things = place(plan, cutouts, feet, rng)
    return paint(background, things), things


def boxes(things: Sequence[Thing], size: tuple[int, int]) -> list[tuple[str, list[int]]]:
    """Class and tight box [x, y, width, height] of what is seen of every thing of a class."""
    found = []
    for thing, seen in visible(things, size):
        if thing.kind != OTHER:
            x0, y0, x1, y1 = Image.fromarray(seen).getbbox() or (0, 0, 0, 0)
            found.append((thing.kind, [x0, y0, x1 - x0, y1 - y0]))
    return found


def coco(plans: Sequence[Plan], found: Sequence[list[tuple[str, list[int]]]]) -> dict[str, Any]:
    """The truth in the layout of COCO; all ids start at 1."""
    names = list(dict.fromkeys(plan.tags[0] for plan in plans))
    rows = [(image, names.index(name) + 1, box) for image, pairs in enumerate(found, 1) for name, box in pairs]
    return {
        "images": [
            {"id": i, "file_name": plan.file_name, "width": plan.size[0], "height": plan.size[1]}
            for i, plan in enumerate(plans, 1)
        ],
        "categories": [{"id": i, "name": name} for i, name in enumerate(names, 1)],
        "annotations": [
            {"id": i, "image_id": image, "category_id": category, "bbox": box, "area": box[2] * box[3], "iscrowd": 0}
            for i, (image, category, box) in enumerate(rows, 1)
        ],
    }


def write_demo(folder: Path, plans: Sequence[Plan]) -> None:
    """Compose the photos and write them, their tags and their truth."""
    found = []
    for number, plan in enumerate(plans):
        photo, things = compose(plan, np.random.default_rng((SEED, number)))
        (folder / plan.file_name).parent.mkdir(exist_ok=True)
        photo.save(folder / plan.file_name, quality=QUALITY, optimize=True)
        found.append(boxes(things, plan.size))
    tagged = [(Path(plan.file_name), ";".join(plan.tags)) for plan in plans]
    rows = [f"{path.name},{tags}\n" for path, tags in tagged if path.parent.name == "photos"]
    (folder / "photos" / "metadata.csv").write_text("file_name,tags\n" + "".join(rows))
    (folder / "truth.json").write_text(json.dumps(coco(plans, found), indent=1) + "\n")


def main() -> None:
    """Read the command line and compose the demo photos."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sources", type=Path, help="folder with the unpacked packages, each in a folder of its name")
    parser.add_argument("demo", type=Path, help="folder of the demo, with its ATTRIBUTION.md")
    arguments = parser.parse_args()
    sources = read_sources((arguments.demo / "ATTRIBUTION.md").read_text(), arguments.sources)
    write_demo(arguments.demo, list(plan_photos(sources, np.random.default_rng(SEED))))


if __name__ == "__main__":
    main()

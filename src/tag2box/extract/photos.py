"""Photos as people have them, turned into pixels as a network wants them.

h, w = height and width after scaling
"""

from __future__ import annotations

import hashlib
import io
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps, UnidentifiedImageError

from tag2box.arrays import require_number
from tag2box.boxes import Size
from tag2box.data.photo_files import HEIF_ENDINGS, HEIF_REMEDY, open_heif
from tag2box.errors import PhotoError, reason_of

Pixels = npt.NDArray[np.uint8]

PAPER = (255, 255, 255)
"""What shows through where a picture is transparent."""

GREY = 127
"""What is beside a picture on its canvas."""

CANVAS_STEP = 32
"""Heights and widths of canvases are multiples of it, as networks that halve a picture five times want them."""

# What Pillow thinks of size and odd metadata is nobody's concern: what cannot be read raises. Filters belong to the
# whole process and cannot be changed for one thread, so these are set once, behind all filters that there are.
warnings.filterwarnings("ignore", category=Image.DecompressionBombWarning, append=True)
warnings.filterwarnings("ignore", category=UserWarning, module=r"PIL\.", append=True)


@final
@dataclass(frozen=True, eq=False)
class Photo:
    """A picture, upright, in colour and scaled; boxes belong to its full size."""

    views: tuple[Pixels, ...]
    """(h, w, 3) each, 8-bit RGB: the same picture at every size that was asked for"""
    height: int
    """Of the upright picture at full size."""
    width: int
    source_hash: str
    """SHA-256 of the file."""

    @property
    def pixels(self) -> Pixels:
        """The first view."""
        return self.views[0]


def load_photo(path: Path, *longest: int) -> Photo:
    """Any picture that Pillow reads, with its longest side scaled to each of ``longest``, in pixels.

    Cameras' orientation marks are applied. Grey, palette, 16-bit, floating-point, CMYK and transparent pictures become
    8-bit RGB; of an animation, the first frame counts. Beyond 178 megapixels Pillow suspects an attack and refuses.
    """
    _check_sides(longest)
    content, reads_heif = _read(path), open_heif()
    try:
        with Image.open(io.BytesIO(content)) as picture:
            return _photo(picture, longest, hashlib.sha256(content).hexdigest())
    except UnidentifiedImageError as error:
        lacks_heif = path.suffix.lower() in HEIF_ENDINGS and not reads_heif
        reason = (
            f"reading it needs {HEIF_REMEDY}" if lacks_heif else "it is not a picture in any format that Pillow knows"
        )
        raise _unreadable(path, reason) from error
    except Exception as error:  # a broken file can make a decoder raise anything
        raise _unreadable(path, reason_of(error)) from error


def photo_hash(path: Path) -> str:
    """SHA-256 of a picture's file, as ``load_photo`` gives it."""
    return hashlib.sha256(_read(path)).hexdigest()


def open_pixels(path: Path, longest: int) -> Pixels:
    """Pixels (h, w, 3) of a picture file, upright, in 8-bit RGB."""
    return load_photo(path, longest).pixels


def as_photo(picture: Image.Image | Pixels, *longest: int) -> Photo:
    """A picture in memory, as Pillow or numpy (8-bit grey, RGB or RGBA) has it, scaled as files are."""
    _check_sides(longest)
    opened = picture if isinstance(picture, Image.Image) else _from_array(picture)
    try:
        return _photo(opened, longest, hashlib.sha256(opened.tobytes()).hexdigest())
    except Exception as error:  # a picture may be opened lazily, from a broken file
        raise PhotoError(
            f"a picture of {opened.width} by {opened.height} pixels cannot be used: {reason_of(error)}.",
            "a picture that is whole",
            "leave it out, or give the path of its file.",
        ) from error


def _from_array(picture: object) -> Image.Image:
    if not isinstance(picture, np.ndarray):
        raise PhotoError(
            f"a picture was given as {type(picture).__name__}.",
            "the path of a file, a Pillow image or a numpy array",
            "open the picture with PIL.Image.open.",
        )
    values: npt.NDArray[Any] = picture
    grey_or_colours = values.ndim == 2 or (values.ndim == 3 and values.shape[2] in {3, 4})
    if values.dtype != np.uint8 or not grey_or_colours or not values.size:
        raise PhotoError(
            f"an array of shape {values.shape} and type {values.dtype} is no picture.",
            "8-bit integers of shape (height, width), (height, width, 3) or (height, width, 4), in RGB order",
            "scale the values to 0 … 255 and convert them to uint8.",
        )
    return Image.fromarray(values)


def _read(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    if not content:
        raise _unreadable(path, "it is empty (0 bytes)")
    return content


def _check_sides(longest: tuple[int, ...]) -> None:
    for side in longest:
        require_number("longest side", side, at_least=1)


def _photo(picture: Image.Image, longest: tuple[int, ...], source_hash: str) -> Photo:
    size, enough = picture.size, 2 * max(longest)
    picture.draft("RGB", (enough, enough))  # a large JPEG is decoded at a fraction of its size
    upright = ImageOps.exif_transpose(picture)
    turned = _is_on_its_side(picture)
    width, height = (size[1], size[0]) if turned else size
    colours = _colours(upright)
    views = tuple(_scaled(colours, height, width, side) for side in longest)
    return Photo(views, height, width, source_hash)


def _scaled(colours: Image.Image, height: int, width: int, longest: int) -> Pixels:
    scale = longest / max(width, height)
    target = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.asarray(colours.resize(target, Image.Resampling.BILINEAR, reducing_gap=3.0), dtype=np.uint8)


def _is_on_its_side(picture: Image.Image) -> bool:
    """Whether the orientation mark swaps height and width."""
    orientation_tag, on_its_side = 0x0112, {5, 6, 7, 8}
    return picture.getexif().get(orientation_tag) in on_its_side


def _colours(picture: Image.Image) -> Image.Image:
    """The picture in 8-bit RGB."""
    if picture.mode.startswith(("I", "F")):
        picture = _eight_bits(picture)
    if picture.has_transparency_data:
        with_alpha = picture.convert("RGBA")
        paper = Image.new("RGBA", picture.size, (*PAPER, 255))
        picture = Image.alpha_composite(paper, with_alpha)
    return picture.convert("RGB")


def _eight_bits(picture: Image.Image) -> Image.Image:
    """A grey picture of more than 8 bits: 16-bit values by their full range, others by the range they use."""
    values = np.asarray(picture).astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError("it has pixels that are not numbers")
    low, high = (0.0, 65535.0) if picture.mode.startswith("I;16") else (float(values.min()), float(values.max()))
    scaled = (values - low) / (high - low) if high > low else np.zeros_like(values)
    return Image.fromarray(np.round(255.0 * scaled).astype(np.uint8))


def _unreadable(path: Path, reason: str) -> PhotoError:
    return PhotoError(
        f"photo {path} cannot be read: {reason}.",
        "a picture that is whole, in a format such as JPEG, PNG or WebP",
        "replace the file, or leave it out.",
    )


def on_canvas(pixels: Pixels, canvas: Size) -> Pixels:
    """The picture in the upper left corner of a grey one of that height and width: networks want certain sizes."""
    around = np.full((*canvas, 3), GREY, dtype=np.uint8)
    height, width = pixels.shape[:2]
    around[:height, :width] = pixels
    return around


def fitting_canvas(pixels: Pixels) -> Size:
    """Height and width of the smallest canvas that a network takes and the picture fits on."""
    height, width = (CANVAS_STEP * -(-extent // CANVAS_STEP) for extent in pixels.shape[:2])
    return height, width

"""Whether the model runs, and which pictures can be read.

What is slow, or could take this Python down with it, is tried in a Python of its own.
"""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from tag2box.product.doctor.findings import Finding, note, ok, problem
from tag2box.product.doctor.installation import AGAIN
from tag2box.rows import KINDS, compiled

NEEDED_FORMATS = ("JPEG", "PNG", "WEBP")
WELCOME_FORMATS = ("AVIF", "HEIF")

LOAD_RUNTIME = "import onnxruntime; print(onnxruntime.__version__, 'loads')"
RUN_MODEL = (
    "import sys, pathlib; from tag2box.product.doctor.abilities import run_model; "
    "print(run_model(pathlib.Path(sys.argv[1])))"
)
SECONDS = 120


@final
@dataclass(frozen=True)
class Attempt:
    """How the code ended."""

    worked: bool
    said: str
    """The last line that it printed or, if it failed, the line that says why"""


Try = Callable[..., Attempt]


def attempt(code: str, *arguments: str) -> Attempt:
    """Run code with the same packages as here; ``arguments`` are its ``sys.argv[1:]``."""
    command = [sys.executable, "-P", "-c", code, *arguments]  # -P: a file torch.py lying here is not torch
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
    if done.returncode == 0:
        return Attempt(True, _last_line(done.stdout))
    return Attempt(False, _last_line(done.stderr) or f"it ended with code {done.returncode} and no word")


def _last_line(text: str) -> str:
    """The last line that is not indented: of a traceback, the one that names the error."""
    lines = [line for line in text.splitlines() if line and not line[0].isspace()]
    return lines[-1].strip() if lines else ""


def runtime_finding(try_code: Try = attempt) -> Finding:
    """Whether ONNX Runtime loads: its compiled part may be missing something, or ask too much of the processor."""
    tried = try_code(LOAD_RUNTIME)
    if tried.worked:
        return ok("onnxruntime", tried.said)
    return problem("onnxruntime", f"does not load: {tried.said}", "pip install --force-reinstall --no-deps onnxruntime")


def model_finding(folder: Path, try_code: Try = attempt) -> Finding:
    """Whether a model's files are those of its card, and find regions in a photo."""
    tried = try_code(RUN_MODEL, str(folder))
    return ok("model", tried.said) if tried.worked else problem("model", f"does not run: {tried.said}", AGAIN)


def run_model(folder: Path) -> str:
    """What a model sees in a synthetic photo, in words; all of its files are read."""
    from tag2box.model import Model

    model = Model.open(folder, threads=1)
    side = model.card.image_size
    pixels = np.full((side, side, 3), 200, dtype=np.uint8)
    pixels[side // 4 : side // 2, side // 4 : side // 2] = (180, 30, 30)
    bag = model.extractor.extract(pixels, "synthetic").bag
    scores = model.learner.head_of_kept(["red"], bag.features[[1]].astype(np.float64), [bag.features[[1]]]).score(bag)
    return f"{model.fingerprint} is whole and runs: {len(scores)} regions in a synthetic photo"


def check_model() -> Finding:
    """Whether the model that ships runs here."""
    from tag2box.extract import model_folder

    return model_finding(model_folder(None))


def check_products() -> Finding:
    """Whether the compiled part, which makes EM fast, was built."""
    library = compiled()
    return products_finding(None if library is None else KINDS[library.kind])


def products_finding(kind: str | None) -> Finding:
    """Whether the compiled part is there, and what it was compiled for."""
    if kind is None:
        remedy = f"have a C compiler, such as gcc or clang, when you {AGAIN}"
        return note("products", "no compiler was at hand when tag2box was installed: EM runs in numpy, slower.", remedy)
    return ok("products", f"compiled, for {kind}")


def check_pictures() -> Finding:
    """Whether this Pillow reads the usual picture formats."""
    return pictures_finding(pillow_reads)


def pictures_finding(reads: Callable[[str], bool]) -> Finding:
    """Whether the usual picture formats can be read."""
    missing = [name for name in NEEDED_FORMATS if not reads(name)]
    if missing:
        words = f"Pillow cannot read {', '.join(missing)}."
        return problem("pictures", words, "pip install --force-reinstall --no-deps pillow")
    strange = [name for name in WELCOME_FORMATS if not reads(name)]
    known = ", ".join(name for name in (*NEEDED_FORMATS, *WELCOME_FORMATS) if name not in strange)
    if strange:
        further = ", or pip install 'tag2box[heic]'" if "HEIF" in strange else ""
        remedy = f"save such photos as JPEG first{further}."
        return note("pictures", f"{known}; not {', '.join(strange)}.", remedy)
    return ok("pictures", known)


def pillow_reads(name: str) -> bool:
    """Whether Pillow can write and read a picture in the format."""
    from PIL import Image

    from tag2box.data.photo_files import open_heif

    if name == "HEIF":  # which nobody has to write
        return open_heif()
    try:
        Image.new("RGB", (16, 16)).save(file := io.BytesIO(), format=name)
        Image.open(file).load()
    except Exception:  # a codec that is not there can fail in many ways
        return False
    return True

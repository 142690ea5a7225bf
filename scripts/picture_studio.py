"""Takes the pictures of the studio that the docs show, in a real browser, and says what one click has changed.

    python scripts/picture_studio.py docs/images [--chromium PATH]

The grid has all demo photos. For the opened photo fewer are tagged, so that one thing is wrong in most of them; the
click goes into the middle of that thing in the photo that the page shows first.
"""

from __future__ import annotations

import argparse
import csv
import io
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from tag2box.boxes import box_overlaps
from tag2box.data import read_tags
from tag2box.data.formats.coco import read_coco
from tag2box.model import Model
from tag2box.product.run import Run
from tag2box.web.serving import Server, listen
from tag2box.web.state import photo_id
from tag2box.web.studio import Studio

DEMO = Path(str(files("tag2box").joinpath("assets", "demo")))
ALL, FEW = (1, 2, 3, 4, 5, 6), (2, 3, 4, 6)
"""Of each thing's demo photos, those that are tagged."""
THING, NEW = "dog", "lamp-8.jpg"
"""What is clicked, and a photo to try."""
WINDOW: ViewportSize = {"width": 1100, "height": 660}
COLOURS = 256
SETTLED = 700
"""Milliseconds until thumbnails and outlines are drawn."""
PATIENCE = 60.0
"""Seconds to wait until the studio has come to rest."""


def tag_some(folder: Path, numbers: Sequence[int]) -> Path:
    """A folder with some of the demo photos and their tags."""
    shutil.copytree(DEMO / "photos", folder)
    with (folder / "metadata.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    kept = [row for row in rows if int(Path(row["file_name"]).stem.split("-")[1]) in numbers]
    for name in {row["file_name"] for row in rows} - {row["file_name"] for row in kept}:
        (folder / name).unlink()
    with (folder / "metadata.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(kept)
    return folder


@contextmanager
def studio_on(photos: Path, run: Path) -> Iterator[tuple[Studio, str]]:
    """A studio that has found everything, and its address."""
    studio = Studio(Run.begin(run, read_tags(photos), Model.open(threads=1)))
    server = Server(studio, listen(0))
    Thread(target=server.run, daemon=True).start()
    studio.start()
    try:
        rest(studio)
        yield studio, server.address
    finally:
        server.stop()
        studio.close()


def rest(studio: Studio) -> None:
    """Wait until there is nothing to do."""
    waited = 0.0
    while studio.busy:
        sleep(0.05)
        waited += 0.05
        if waited > PATIENCE:
            raise SystemExit("the studio does not come to rest")


def overlaps(studio: Studio, truth: dict[str, np.ndarray[Any, Any]]) -> dict[str, float]:
    """How well the boxes of the thing cover it, by photo."""
    found = studio.found().of(THING)
    if found is None:
        raise SystemExit(f"no {THING} was found")
    boxes = zip(found.photos, found.boxes, strict=True)
    return {name: float(box_overlaps(np.array([box.box], np.float32), truth[name]).max()) for name, box in boxes}


def click_thing(page: Page, name: str, truth: np.ndarray[Any, Any], width: int) -> None:
    """Click into the middle of the true box of an opened photo."""
    frame = page.locator("#frame").bounding_box()
    if frame is None:
        raise SystemExit(f"{name} is not open")
    x0, y0, x1, y1 = (float(edge) * frame["width"] / width for edge in truth[0])
    page.mouse.click(frame["x"] + (x0 + x1) / 2, frame["y"] + (y0 + y1) / 2)


def take_grid(page: Page, folder: Path) -> None:
    """All photos, and how a new one is tried."""
    keep(page.screenshot(), folder / "studio-grid.png")
    page.set_viewport_size({"width": 1000, "height": 900})
    page.locator("#many summary").click()
    page.locator("#classes li").first.locator("summary").click()
    page.wait_for_timeout(SETTLED)
    aside = page.locator("aside").screenshot()
    page.locator("#open-try").click()
    page.locator("#try-file").set_input_files(DEMO / "queries" / NEW)
    page.locator("#try-list li").first.wait_for()
    page.wait_for_timeout(SETTLED)
    keep(side_by_side([aside, page.locator("#try").screenshot()]), folder / "studio-try.png")


def take_photo(page: Page, studio: Studio, folder: Path) -> None:
    """An opened photo, and what a click on its thing does."""
    images = {image.path.name: image for image in read_coco(DEMO / "truth.json").images}
    truth = {name: image.truth.of_class(THING).boxes for name, image in images.items()}
    before = overlaps(studio, truth)
    name = next(each.photo for each in studio.found().by_doubt() if before.get(each.photo, 1.0) < 0.5)
    page.locator(f'#grid button[data-id="{photo_id(name)}"]').click()
    page.locator("#boxes .offer").first.wait_for(state="attached")
    while page.locator("#photo-tags button[aria-checked=true]").text_content() != THING:
        page.keyboard.press("ArrowDown")
    page.wait_for_timeout(SETTLED)
    keep(page.screenshot(), folder / "studio-photo.png")
    click_thing(page, name, truth[name], images[name].width)
    page.locator("#photo-changes").wait_for(state="visible")
    rest(studio)
    print(f"one click on the {THING} in {name}; overlap with the true box before and after:")
    for photo, overlap in overlaps(studio, truth).items():
        print(f"  {photo}: {before[photo]:.2f} → {overlap:.2f}")


def side_by_side(shots: Sequence[bytes]) -> bytes:
    """Screenshots, one beside the other, each from its top."""
    pictures = [Image.open(io.BytesIO(shot)).convert("RGB") for shot in shots]
    joined = Image.new("RGB", (sum(each.width for each in pictures), max(each.height for each in pictures)), "white")
    left = 0
    for each in pictures:
        joined.paste(each, (left, 0))
        left += each.width
    content = io.BytesIO()
    joined.save(content, "PNG")
    return content.getvalue()


def keep(shot: bytes, path: Path) -> None:
    """A picture of few colours is a third as large."""
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(COLOURS).save(path, optimize=True)


def main() -> None:
    """Take them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="the browser, if it is not on the path")
    asked = parser.parse_args()
    with sync_playwright() as api:
        browser = api.chromium.launch(executable_path=asked.chromium)
        on_page(browser, ALL, lambda page, _: take_grid(page, asked.folder))
        on_page(browser, FEW, lambda page, studio: take_photo(page, studio, asked.folder))
        browser.close()


def on_page(browser: Browser, numbers: Sequence[int], use: Callable[[Page, Studio], None]) -> None:
    """Do something on the page of a studio on these photos."""
    with tempfile.TemporaryDirectory() as scratch:
        photos = tag_some(Path(scratch) / "photos", numbers)
        with studio_on(photos, Path(scratch) / "run") as (studio, address):
            page = browser.new_page(viewport=WINDOW)
            page.goto(address)
            page.wait_for_selector("html[data-ready]", state="attached")
            page.wait_for_timeout(SETTLED)
            use(page, studio)
            page.close()


if __name__ == "__main__":
    main()

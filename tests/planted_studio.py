"""A studio on planted photos, for tests: in this process, or as a program that can be killed."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Thread

from PIL import Image

from planted_extractor import planted_world
from tag2box.data import read_tags
from tag2box.product.learning import LearnedClass
from tag2box.product.own_photos import open_own
from tag2box.product.run import Run
from tag2box.web.serving import Server, listen
from tag2box.web.studio import Studio

RED, GREEN, GREY = (250, 0, 0), (0, 250, 0), (90, 90, 90)
QUARTERS = [(0, 0, 40, 30), (40, 0, 80, 30), (0, 30, 40, 60), (40, 30, 80, 60)]
BOXES = [[float(edge) for edge in quarter] for quarter in QUARTERS]


def picture(number: int, **colours: tuple[int, int, int]) -> Image.Image:
    """A grey photo of 80 by 60 with quarters in colours: ``q0=RED``."""
    made = Image.new("RGB", (80, 60), (GREY[0], GREY[1], GREY[2] + number))
    for name, colour in colours.items():
        made.paste((colour[0], colour[1], colour[2] + number), QUARTERS[int(name[1])])
    return made


def write_photos(folder: Path) -> Path:
    """Five photos of "thing", in each a red and a green quarter; two of "pen", which is green; one of nothing."""
    for tag in ("thing", "pen", "_none"):
        (folder / tag).mkdir(parents=True)
    for number in range(5):
        at = {f"q{number % 4}": RED, f"q{(number + 1) % 4}": GREEN}
        picture(number, **at).save(folder / "thing" / f"{number}.png")
    for number in (5, 6):
        picture(number, q3=(0, 0, 240)).save(folder / "pen" / f"{number}.png")
    picture(7).save(folder / "_none" / "7.png")
    return folder


def open_planted(photos: Path | None, folder: Path) -> Studio:
    """A studio on a run with the planted model; without photos, one that is given them."""
    model, _ = planted_world()
    return Studio(Run.begin(folder, read_tags(photos), model) if photos is not None else open_own(folder, model))


@contextmanager
def served(studio: Studio, port: int = 0) -> Iterator[Server]:
    """The studio on a port, in another thread."""
    server = Server(studio, listen(port))
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield server
    finally:
        server.stop()
        thread.join(5)


def doubt_less(studio: Studio, label: str, doubts: Sequence[float]) -> None:
    """Let the boxes of a class be doubted so much, and none of its tags be suspected, until it is learned again."""

    def told(one: LearnedClass) -> LearnedClass:
        boxes = zip(one.boxes, doubts, strict=True)
        return replace(one, boxes=tuple(replace(box, doubt=doubt, absence=0.0) for box, doubt in boxes))

    def tell() -> None:
        found = studio.found()
        alone, learned = (
            tuple(told(one) if one.label == label else one for one in some) for some in (found.alone, found.learned)
        )
        studio.run.found = replace(found, alone=alone, learned=learned)
        studio._publish()

    studio.do(tell).result()


def settle(studio: Studio, patience: float = 20.0) -> None:
    """Wait until there is nothing to do."""
    end = time.monotonic() + patience
    while studio.busy:
        assert time.monotonic() < end, "the studio does not come to rest"
        time.sleep(0.01)


if __name__ == "__main__":
    opened = open_planted(Path(sys.argv[1]), Path(sys.argv[2]))
    program = Server(opened, listen(int(sys.argv[3])))
    sys.stdout.write(f"{program.address}\n")
    sys.stdout.flush()
    opened.start()
    try:
        program.run()
    finally:
        opened.close()

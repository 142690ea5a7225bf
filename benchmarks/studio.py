"""How long the studio takes from a correction to the state that pages show, and what many photos cost it.

    python benchmarks/studio.py STORE TRUTH [--photos 100] [--many 5000] [--words 20]

STORE has the regions of photos with true boxes (TRUTH). A run is made of some of them, words are said to a real server
over HTTP, and the time is taken until the state is new and at rest: keeping the word, solving and publishing. What was
found is compared with what a fresh run finds after the same words. Then the same photos under many names: the first
screen, and memory that is not the page cache. The photos themselves are not read, so thumbnails do not count.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, islice
from multiprocessing import get_context
from pathlib import Path
from threading import Thread

import httpx2

from tag2box.data import read_dataset
from tag2box.data.tags import TaggedPhoto, TagSet
from tag2box.model import Model
from tag2box.product.run import Run
from tag2box.product.run_files import FEATURES_NAME
from tag2box.store import FeatureStore, StoreWriter
from tag2box.types import ProposalBag
from tag2box.web.serving import Server, listen
from tag2box.web.state import photo_id
from tag2box.web.studio import Studio


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--photos", type=int, default=100)
    parser.add_argument("--many", type=int, default=5000)
    parser.add_argument("--words", type=int, default=20)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        words(make_run(asked.store, asked.truth, asked.photos, Path(place) / "few"), asked.words)
        folder = make_run(asked.store, asked.truth, asked.many, Path(place) / "many")
        alone = get_context("spawn").Process(target=many, args=(folder,))  # nobody else's memory counts
        alone.start()
        alone.join()
        if alone.exitcode:
            raise SystemExit("many photos are too many")


def make_run(store: Path, truth: Path, photos: int, folder: Path) -> Path:
    """A run with features for so many photos; the store's own come again and again, under other names."""
    features, tags = FeatureStore(store), read_dataset(truth).tags
    shown = [name for name in features.image_ids if tags[name]]
    shown = shown[:: max(1, round(len(shown) / photos))]  # of every class some
    names = dict(islice(((f"{turn}/{name}", name) for turn in count() for name in shown), photos))
    given = [TaggedPhoto(name, folder / name, frozenset(tags[of])) for name, of in sorted(names.items())]
    with (
        Run.begin(folder, TagSet(folder, tuple(given), "a benchmark"), Model.open(threads=1)),
        StoreWriter(folder / FEATURES_NAME, features.header) as writer,
    ):
        for name, of in names.items():
            bag = features.bag(of)
            writer.append(ProposalBag(name, bag.boxes, bag.features, bag.objectness, bag.norms))
    return folder


@contextmanager
def opened(folder: Path) -> Iterator[tuple[Studio, httpx2.Client]]:
    """A studio on a port, and a browser of a kind that was let in."""
    studio = Studio(Run.open(folder, Model.open(threads=1)))
    server = Server(studio, listen(0))
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.001)
    base = server.address.split("/enter")[0]
    with httpx2.Client(base_url=base, headers={"origin": base}, timeout=600.0) as page:
        page.get(server.address).raise_for_status()
        studio.start()
        try:
            yield studio, page
        finally:
            server.stop()
            thread.join(5)
            studio.close()


def rest(studio: Studio) -> None:
    """Wait until there is nothing to do."""
    while studio.busy:
        time.sleep(0.001)


def words(folder: Path, number: int) -> None:
    """Say where things are, in the most doubtful photos first, always at the next-best region."""
    taken = []
    with opened(folder) as (studio, page):
        rest(studio)
        for _ in range(number):
            said = studio.run.known().regions
            worst = next(b for b in studio.found().by_doubt() if b.photo not in said.get(b.box.label, {}))
            one = next(one for one in studio.found().learned if one.label == worst.box.label)
            box = [float(edge) for edge in one.candidates[one.photos.index(worst.photo)].boxes[1]]
            start = time.perf_counter()
            answer = page.post(
                "/correct", json={"kind": "shows", "photo": photo_id(worst.photo), "label": one.label, "box": box}
            )
            answer.raise_for_status()
            rest(studio)
            page.get("/state").raise_for_status()
            taken.append(1000 * (time.perf_counter() - start))
        boxes, photos = studio.found().boxes(), len(studio.run.given.photos)
    with Run.open(folder, Model.open(threads=1)) as fresh:
        if fresh.find().boxes() != boxes:
            raise SystemExit("a fresh run finds other boxes")
    middle, worst_time = statistics.median(taken), max(taken)
    print(f"A word about one of {photos} photos: {middle:.0f} ms, {worst_time:.0f} ms at the most ({number} words).")


def many(folder: Path) -> None:
    """What it takes until a page can show its first screen, and how much memory."""
    start = time.perf_counter()
    with opened(folder) as (studio, page):
        for path in ("/", "/state"):
            page.get(path).raise_for_status()
        first = time.perf_counter() - start
        rest(studio)
        found = time.perf_counter() - start
        photos = len(studio.run.given.photos)
        print(f"{photos:,} photos: first screen after {first:.1f} s, everything found after {found:.0f} s.")
        print(f"Memory that is not the page cache: {_anonymous() / 2**20:.0f} MB, this client included.")


def _anonymous() -> int:
    """Bytes of this process that no file backs, on Linux."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith("RssAnon")))


if __name__ == "__main__":
    main()

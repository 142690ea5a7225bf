"""Looks at many photos in one process, and fails if its memory keeps growing.

    python scripts/soak.py PHOTOS [--photos 2000]

PHOTOS is a folder; where it has fewer photos, they come again under other names. The first tenth is for warming up.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path

from tag2box.data.photo_files import PhotoFile, find_photos
from tag2box.extract import extract_photos, open_extractor

MOST_GROWTH = 0.05
"""Of the memory after warming up."""
READINGS = 10


def resident() -> int:
    """Bytes of this process that are in memory, without files that are only mapped."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


def soak(folder: Path, count: int) -> list[int]:
    """Memory after each tenth of the photos."""
    paths = sorted(photo.path for photo in find_photos([folder]))
    photos = [PhotoFile(f"{number}-{path.name}", path) for number, path in enumerate(islice(cycle(paths), count))]
    readings: list[int] = []

    def read(done: int, _figures: object) -> None:
        if done * READINGS >= (len(readings) + 1) * count:
            readings.append(resident())
            print(f"{done:6,} photos: {readings[-1] / 2**20:7.1f} MB", flush=True)

    with tempfile.TemporaryDirectory() as scratch:
        extract_photos(open_extractor(threads=1), photos, Path(scratch) / "store", read)
    return readings


def main() -> None:
    """Print memory as it goes; the exit code says whether it stayed flat."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--photos", type=int, default=2000)
    asked = parser.parse_args()
    warm, *later = soak(asked.folder, asked.photos)
    growth = max(later) / warm - 1.0
    print(f"growth after the first tenth: {100 * growth:.1f} % (at most {100 * MOST_GROWTH:.0f})")
    sys.exit(growth > MOST_GROWTH)


if __name__ == "__main__":
    main()

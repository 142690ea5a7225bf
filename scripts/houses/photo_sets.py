"""Photos to ask about, laid out as the demo's: ``photos`` with ``metadata.csv``, ``queries``, and the truth of each."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TRUTH, QUERY_TRUTH = "truth.json", "query-truth.json"


@dataclass(frozen=True)
class PhotoSet:
    """A folder of tagged photos and of others to detect things in."""

    name: str
    folder: Path

    @property
    def photos(self) -> Path:
        """Folder of the tagged photos."""
        return self.folder / "photos"

    @property
    def queries(self) -> Path:
        """Folder of the others."""
        return self.folder / "queries"

    def largest_class(self, most: int) -> list[str]:
        """The names of the photos, ``most`` at most, of the tag that has the most."""
        with (self.photos / "metadata.csv").open(encoding="utf-8", newline="") as file:
            tags = {row["file_name"]: row["tags"].split(";") for row in csv.DictReader(file)}
        best, _ = Counter(tag for words in tags.values() for tag in words).most_common(1)[0]
        return [name for name, words in tags.items() if best in words][:most]


def copy_demo(house: Path, folder: Path) -> PhotoSet:
    """The photos that ship with a house."""
    shutil.copytree(house / "src" / "tag2box" / "assets" / "demo", folder)
    content = json.loads((folder / TRUTH).read_text(encoding="utf-8"))
    _write_truth(folder / QUERY_TRUTH, content, {i["id"] for i in content["images"] if "queries/" in i["file_name"]})
    return PhotoSet("demo", folder)


def copy_photos(photos: Path, truth: Path, folder: Path, most: int) -> PhotoSet:
    """The first photos of each class of a COCO file, ``most`` with tags and as many without."""
    content = json.loads(truth.read_text(encoding="utf-8"))
    tags = _tags(content)
    tagged = _first_of_each(tags, list(tags), most)
    queries = _first_of_each(tags, [number for number in tags if number not in tagged], most)
    for place in ("photos", "queries"):
        (folder / place).mkdir(parents=True)
    rows = []
    for image in content["images"]:
        number = image["id"]
        if number in tagged or number in queries:
            source = image["file_name"]
            place = "photos" if number in tagged else "queries"
            image["file_name"] = f"{place}/{source.replace('/', '-')}"
            shutil.copyfile(_find(source, photos, truth.parent), folder / image["file_name"])
            rows += [(Path(image["file_name"]).name, ";".join(sorted(tags[number])))] if number in tagged else []
    with (folder / "photos" / "metadata.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("file_name", "tags"), *rows])
    _write_truth(folder / TRUTH, content, tagged | queries)
    _write_truth(folder / QUERY_TRUTH, content, queries)
    return PhotoSet(truth.parent.name, folder)


def _tags(content: dict[str, Any]) -> dict[int, set[str]]:
    """The classes that each photo shows, for photos that show any."""
    names = {category["id"]: category["name"] for category in content["categories"]}
    found: dict[int, set[str]] = {}
    for entry in content["annotations"]:
        found.setdefault(entry["image_id"], set()).add(names[entry["category_id"]])
    return {image["id"]: found[image["id"]] for image in content["images"] if image["id"] in found}


def _first_of_each(tags: dict[int, set[str]], numbers: list[int], most: int) -> set[int]:
    """Photos in order, as long as one of their classes has fewer than ``most``."""
    counts: Counter[str] = Counter()
    chosen = set()
    for number in numbers:
        if any(counts[tag] < most for tag in tags[number]):
            counts.update(tags[number])
            chosen.add(number)
    return chosen


def _find(name: str, *folders: Path) -> Path:
    places = [folder / each for folder in folders for each in (name, Path(name).name)]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise SystemExit(
            f"the photo {name} is in none of {', '.join(map(str, folders))}; give its folder with --photos"
        )
    return found


def _write_truth(path: Path, content: dict[str, Any], images: set[int]) -> None:
    kept = {
        "images": [image for image in content["images"] if image["id"] in images],
        "annotations": [entry for entry in content["annotations"] if entry["image_id"] in images],
    }
    path.write_text(json.dumps(content | kept), encoding="utf-8")

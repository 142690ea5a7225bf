"""Code that runs inside a house: small texts, because the names that they import differ from house to house."""

from __future__ import annotations

from typing import Final

WHERE: Final = "import tag2box; print(tag2box.__file__)"

API: Final = """
import csv, json, sys
from pathlib import Path
from tag2box import FewShotDetector

photos, queries, output = (Path(word) for word in sys.argv[1:])
with (photos / "metadata.csv").open(encoding="utf-8", newline="") as file:
    rows = list(csv.DictReader(file))
detector = FewShotDetector().fit([photos / row["file_name"] for row in rows], [row["tags"].split(";") for row in rows])
detector.save(output / "api.classes")
boxes = {
    row["file_name"]: {
        label: {"box": list(found.box), "score": found.score, "doubt": found.doubt} for label, found in by_tag.items()
    }
    for row, by_tag in zip(rows, detector.localizations_, strict=True)
}
detections = [
    {"file_name": path.name, "category_name": one.label, "score": float(one.score), "bbox": [float(v) for v in one.box]}
    for path in sorted(queries.iterdir())
    for one in detector.detect(path)
]
(output / "api.json").write_text(json.dumps({"boxes": boxes, "detections": detections}))
"""
"""Arguments: folder of photos, folder of queries, folder for ``api.json`` and ``api.classes``."""

PLANT: Final = """
import sys
from pathlib import Path
from planted_bench import plant_bench

plant_bench(Path(sys.argv[1]))
"""
"""Argument: folder for planted data, features and model."""

PLANTED_TABLE: Final = """
title = "Planted"
dataset = "voc07"
shots = [3]
tasks = 12
methods = ["vmf-mil", "vmf-mil-likeness"]
"""
ABOUT_THE_TABLE: Final = ('question = "Are the numbers the same?"', 'claim = "The same numbers."')
"""What a table has to say of itself, in newer houses and in older ones."""

FINDING: Final = """
from types import SimpleNamespace

from tag2box.model import Model
from tag2box.product.finding import learn_class
from tag2box.store import FeatureStore

model = Model.open()

def learn(folder, names):
    one = learn_class("thing", names, FeatureStore(folder), model)
    doubts = [box.doubt for box in one.boxes]
    return SimpleNamespace(direction=one.direction, doubts=doubts, threshold=one.threshold)
"""
LEARNING: Final = """
from tag2box.extract import Extractor
from tag2box.product.knowledge import knowledge_of
from tag2box.store import FeatureStore
try:
    from tag2box.product.finding import learn_class
except ImportError:
    from tag2box.product.learning import learn_class

knowledge = knowledge_of(Extractor(threads=1))

def learn(folder, names):
    store = FeatureStore(folder)
    return learn_class("thing", [store.bag(name) for name in names], knowledge)
"""
WAYS_TO_LEARN: Final = (FINDING, LEARNING)
"""Each defines ``learn(folder, names)``, from a closed store to something with direction, doubts and threshold.

A house uses the first whose imports work: put the way of a new house in front."""

TIME_LEARNING: Final = """
import json, sys, time
from pathlib import Path

folder, names, repeats, ways = Path(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4])
for number, way in enumerate(ways):
    room = {}
    try:
        exec(way, room)
        break
    except ImportError:
        if number + 1 == len(ways):
            raise
learn = room["learn"]
one = learn(folder, names)
wall, cpu = [], []
for _ in range(repeats):
    clock, worked = time.perf_counter(), time.process_time()
    one = learn(folder, names)
    wall.append(time.perf_counter() - clock)
    cpu.append(time.process_time() - worked)
answer = {
    "direction": [float(value) for value in one.direction],
    "doubts": [float(value) for value in one.doubts],
    "threshold": float(one.threshold),
}
print(json.dumps({"wall": sorted(wall)[repeats // 2], "cpu": sorted(cpu)[repeats // 2], "answer": answer}))
"""
"""Arguments: store, names of photos, how often, ways to learn. Prints the median times and the answer."""

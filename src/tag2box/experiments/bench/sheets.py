"""Tasks as pictures: where a method finds the class in support and query images, and how EM gets there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from tag2box.arrays import Float32s
from tag2box.data import DatasetImage
from tag2box.evaluation import is_correct
from tag2box.experiments.bench.rows import Row
from tag2box.experiments.bench.running import draw_episodes
from tag2box.experiments.bench.sources import load_source
from tag2box.experiments.bench.trials import Pool, learn_task
from tag2box.experiments.bench.workbench import Workbench
from tag2box.extract import open_pixels
from tag2box.methods.learners import ObjectLearner
from tag2box.methods.lineup import LINEUP
from tag2box.methods.localizers import GaussianMil, VmfMil
from tag2box.types import Episode
from tag2box.viz import NEUTRAL, RIGHT, WRONG, DrawnBox, PagePhoto, draw_sheet

TASKS_NAME, STEPS_NAME = "tasks.png", "steps.png"
STEPS_SHOWN = 6

Images = Mapping[str, DatasetImage]


def draw_tasks(bench: Workbench, row: Row, count: int, folder: Path) -> Iterator[Path]:
    """Write one sheet of the first tasks, and for a method with EM steps one of tasks where they move the box."""
    dataset = load_source(bench.data, row.dataset)
    pool, images = bench.pool(dataset, row.dataset), {image.image_id: image for image in dataset.images}
    learner = LINEUP[row.method].build(bench.ingredients(), dict(row.chosen))
    episodes = draw_episodes(dataset, row)
    tasks = [task_tiles(learner, episode, pool, images) for episode in episodes[:count]]
    draw_sheet(folder / TASKS_NAME, [tile for tiles in tasks for tile in tiles], open_pixels, columns=row.shots + 1)
    yield folder / TASKS_NAME
    if isinstance(learner, VmfMil | GaussianMil):
        tried = (step_tiles(learner, episode, pool, images) for episode in episodes)
        moved = list(islice(filter(moving, tried), count))
        draw_sheet(
            folder / STEPS_NAME, [tile for tiles in moved for tile in _fitted(tiles)], open_pixels, columns=STEPS_SHOWN
        )
        yield folder / STEPS_NAME


def task_tiles(learner: ObjectLearner, episode: Episode, pool: Pool, images: Images) -> list[PagePhoto]:
    """The support images of a task with the chosen regions, then the query with its best one."""
    label = episode.classes[0]
    learned = learn_task(learner, episode, pool)[label]
    tiles = [
        _tile(images[image], label, pool.bag(image).boxes[row], "")
        for image, row in zip(episode.positives(label), learned.localization.rows, strict=True)
    ]
    query = pool.bag(episode.queries[0])
    return [*tiles, _tile(images[query.image_id], label, query.boxes[learned.score(query).argmax()], "query")]


def step_tiles(learner: VmfMil | GaussianMil, episode: Episode, pool: Pool, images: Images) -> list[PagePhoto]:
    """The query image of a task once for every EM step, with what was its best region then."""
    label = episode.classes[0]
    rng = np.random.default_rng([episode.seed, episode.index, 0])
    solution = learner.solve([pool.bag(image) for image in episode.positives(label)], rng)
    query = pool.bag(episode.queries[0])
    features, background = solution.view(query)
    rows = [int((step.foreground.logits(features) - background).argmax()) for step in solution.steps]
    image = images[query.image_id]
    return [_tile(image, label, query.boxes[row], f"step {step}") for step, row in enumerate(rows)]


def moving(tiles: Sequence[PagePhoto]) -> bool:
    """Whether EM changed its mind about the query."""
    return len({tuple(tile.boxes[-1].box.tolist()) for tile in tiles}) > 1


def _fitted(tiles: list[PagePhoto]) -> list[PagePhoto]:
    """Exactly as many steps as a line has: the first ones and the last, which fills up."""
    last = len(tiles) - 1
    return [tiles[min(step, last)] for step in range(STEPS_SHOWN - 1)] + [tiles[last]]


def _tile(image: DatasetImage, label: str, box: Float32s, words: str) -> PagePhoto:
    """A photo with the objects of the class in yellow and the chosen box in green or red."""
    objects = [DrawnBox(row, "", NEUTRAL) for row in image.truth.of_class(label).boxes]
    colour = RIGHT if is_correct(box, image.truth, label) else WRONG
    return PagePhoto(image.path, image.height, image.width, (*objects, DrawnBox(box, words or label, colour)), label)

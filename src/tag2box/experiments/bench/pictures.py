"""What the experiments came to, as charts; and tasks as photos: where a method finds the class, how EM gets there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from tag2box.arrays import Float32s
from tag2box.data import DatasetImage
from tag2box.evaluation import Verdict, is_correct
from tag2box.experiments.bench.results import Row, RowResult
from tag2box.experiments.bench.running import draw_episodes
from tag2box.experiments.bench.specification import PRECISION, QUERY
from tag2box.experiments.bench.tasks import Pool, learn_task
from tag2box.experiments.bench.trust import TrustTrial, judged, reliability
from tag2box.experiments.bench.workbench import Workbench
from tag2box.extract import open_pixels
from tag2box.methods.calibration import Calibration
from tag2box.methods.learners import ObjectLearner
from tag2box.methods.lineup import LINEUP
from tag2box.methods.localizers import GaussianMil, SceneMil, VmfMil, logits
from tag2box.sphere import KAPPA_RULES
from tag2box.types import Episode
from tag2box.viz import (
    NEUTRAL,
    RIGHT,
    WRONG,
    Curve,
    DrawnBox,
    PagePhoto,
    draw_curves,
    draw_shares,
    draw_sheet,
)

STEPS = "em-"
"""How the names of the methods begin that stop EM after some steps."""
DIMENSION = 512
"""Of the paper's features, and of ours."""
TASKS_NAME, STEPS_NAME = "tasks.png", "steps.png"
STEPS_SHOWN = 6

Images = Mapping[str, DatasetImage]
StepLearner = VmfMil | GaussianMil | SceneMil
"""Methods that keep their EM steps."""


def steps_chart(results: Mapping[Row, RowResult]) -> Figure | None:
    """CorLoc and precision against the number of EM steps, if such rows are there."""
    rows = {row: result for row, result in results.items() if row.method.startswith(STEPS)}
    if not rows:
        return None
    places = np.array([int(row.method.removeprefix(STEPS)) for row in rows])
    curves = {}
    for measure in (QUERY, PRECISION):
        figures = [result.figures[measure] for result in rows.values()]
        value, low, high = (
            100.0 * np.array([getattr(figure, name) for figure in figures]) for name in ("value", "low", "high")
        )
        curves[measure] = Curve(places, value, low, high)
    return draw_curves(f"EM on {next(iter(rows)).dataset}", "EM steps", "%", curves)


def misses_chart(results: Mapping[Row, RowResult]) -> Figure | None:
    """What the best region of the query images shows, method by method, with the fewest ways and shots of a table."""
    ways, shots = min(((row.ways, row.shots) for row in results), default=(0, 0))
    shares = {}
    for row, result in results.items():
        found = [verdict for verdicts in result.query for verdict in verdicts]
        if found and (row.ways, row.shots) == (ways, shots):
            shares[LINEUP[row.method].title] = [found.count(kind) / len(found) for kind in Verdict]
    if not shares:
        return None
    return draw_shares(f"What the chosen box shows, N = {ways}, K = {shots}", [str(kind) for kind in Verdict], shares)


def kappa_chart() -> Figure:
    """The rules for the concentration against the mean resultant length."""
    lengths = np.linspace(0.02, 0.98, 97)
    curves = {name: Curve(lengths, np.asarray(rule(lengths, DIMENSION))) for name, rule in KAPPA_RULES.items()}
    return draw_curves(f"Estimates of κ, d = {DIMENSION}", "mean resultant length", "κ", curves, log=True)


def reliability_chart(trials: Sequence[TrustTrial], calibration: Calibration, dataset: str) -> Figure:
    """The share of wrong boxes, and of wrong tags, against what was expected."""
    curves = {"as it should be": Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]))}
    for name, judge, kind in (
        ("box is wrong", calibration.wrong, "wrong"),
        ("tag is wrong", calibration.absent, "absent"),
    ):
        expected, happened, _ = reliability(*judged(trials, judge, kind))
        curves[name] = Curve(expected, happened)
    return draw_curves(f"Doubt on {dataset}", "expected chance", "share that happened", curves)


def draw_tasks(bench: Workbench, row: Row, count: int, folder: Path) -> Iterator[Path]:
    """Write one sheet of the first tasks, and for a method with EM steps one of tasks where they move the box."""
    dataset = bench.load(row.dataset)
    pool, images = bench.pool(row.dataset), {image.image_id: image for image in dataset.images}
    learner = LINEUP[row.method].build(bench.knowledge(), dict(row.chosen))
    episodes = draw_episodes(dataset, row)
    tasks = [task_tiles(learner, episode, pool, images) for episode in episodes[:count]]
    draw_sheet(folder / TASKS_NAME, [tile for tiles in tasks for tile in tiles], open_pixels, columns=row.shots + 1)
    yield folder / TASKS_NAME
    if isinstance(learner, StepLearner):
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


def step_tiles(learner: StepLearner, episode: Episode, pool: Pool, images: Images) -> list[PagePhoto]:
    """The query image of a task once for every EM step, with what was its best region then."""
    label = episode.classes[0]
    rng = np.random.default_rng([episode.seed, episode.index, 0])
    shown = episode.positives(label)
    absent = [image.image_id for image in episode.support if image.image_id not in shown]
    bags, others = ([pool.bag(image) for image in some] for some in (shown, (*absent, *episode.negatives)))
    solution = learner.learn(bags, others, rng)
    query = pool.bag(episode.queries[0])
    directions, background = solution.viewer(query)
    rows = [int((logits(step.foreground, directions) - background).argmax()) for step in solution.steps]
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

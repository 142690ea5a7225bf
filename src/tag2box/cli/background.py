"""``tag2box background``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from tag2box.cli.arguments import SplitName, TruthFiles
from tag2box.data import load_split, read_dataset
from tag2box.methods.detectors.spread_file import save_spread
from tag2box.methods.localizers import save_background
from tag2box.store import FeatureStore
from tag2box.training import fit_background, fit_spread, sample_background


def background(
    stores: Annotated[list[Path], typer.Argument(help="Feature stores of base images.", show_default=False)],
    truth: TruthFiles,
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write.", show_default=False)],
    split: SplitName = "coco60",
    components: Annotated[int, typer.Option(min=1, help="1 is the paper's; more make a mixture.")] = 1,
    center: Annotated[bool, typer.Option(help="Subtract the mean of the base features first.")] = False,
    spread: Annotated[
        Path | None, typer.Option(help="File for mean and covariance of all regions, which detectors need.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Draws the regions.")] = 0,
) -> None:
    """Learn what background looks like, from base images without novel objects."""
    console = Console(highlight=False)
    opened = [FeatureStore(folder) for folder in stores]
    base = load_split(split).base
    with console.status("Collecting background regions …"):
        sample = sample_background(opened, [read_dataset(path) for path in truth], base, seed)
    with console.status(f"Fitting {components} component(s) to {len(sample.features):,} regions …"):
        rng = np.random.default_rng(seed)
        fitted = fit_background(sample, opened[0].header.fingerprint, centered=center, components=components, rng=rng)
    save_background(output, fitted)
    if spread is not None:
        with console.status("Measuring the spread of all regions …"):
            save_spread(spread, fit_spread(opened, fitted.center), opened[0].header.fingerprint)
    kappas = ", ".join(f"{kappa:.0f}" for kappa in fitted.mixture.kappas)
    console.print(f"{fitted.regions:,} regions of {fitted.images:,} images; concentration {kappas}.")
    console.print(f"Wrote {output}.", soft_wrap=True, markup=False)

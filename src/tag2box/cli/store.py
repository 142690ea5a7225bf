"""``tag2box extract`` and ``tag2box store``: makes feature stores, and looks into them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import track

from tag2box.cli.arguments import A_DATASET, Cluster, ModelFolder, StoreFolder
from tag2box.cli.terminal import plain_console, step_progress
from tag2box.cluster import extract_on_cluster
from tag2box.data import read_dataset
from tag2box.data.photo_files import PhotoFile, find_photos, say_skipped, skipped_photos
from tag2box.extract import REGIONS, extract_photos, open_extractor, unreadable_photos
from tag2box.store import FeatureStore
from tag2box.words import counted

store_app = typer.Typer(help="Look into a feature store.", no_args_is_help=True)


@store_app.command("info")
def info(folder: StoreFolder) -> None:
    """Say what a store holds."""
    store = FeatureStore(folder)
    size = sum(shard.path.stat().st_size for shard in store.shards)
    console = plain_console()
    console.print(f"extractor   {store.header.fingerprint}", soft_wrap=True)
    console.print(f"dimension   {store.header.dimension}")
    console.print(f"images      {len(store):,}")
    console.print(f"regions     {sum(shard.regions for shard in store.shards):,}")
    console.print(f"shards      {len(store.shards):,} ({size / 1e6:,.1f} MB)")


@store_app.command("verify")
def verify(folder: StoreFolder) -> None:
    """Check every byte and every image of a store."""
    store, console = FeatureStore(folder), plain_console(stderr=True)
    for _ in track(
        store.verify(), "Verifying", total=len(store.shards), console=console, disable=not console.is_terminal
    ):
        pass
    plain_console().print(f"{len(store):,} images in {len(store.shards):,} shard(s) are sound.")


def extract(
    images: Annotated[
        list[Path],
        typer.Argument(help=f"Pictures, folders of pictures, or {A_DATASET}.", show_default=False),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of the store.", show_default=False)],
    model: ModelFolder = None,
    regions: Annotated[int, typer.Option(min=1, help="Regions of a photo, beside the whole.")] = REGIONS,
    skip_bad: Annotated[bool, typer.Option(help="End well even if some pictures cannot be read.")] = False,
    cluster: Cluster = None,
) -> None:
    """Find and describe the regions of photos, once, for everything that follows."""
    annotated = [path for path in images if path.suffix.lower() in {".json", ".txt"}]
    photos = [PhotoFile(image.image_id, image.path) for path in annotated for image in read_dataset(path).images]
    places = [path for path in images if path not in annotated]
    photos += find_photos(places) if places else []
    console = plain_console()
    with step_progress("Extracting", len(photos), console) as advance:
        if cluster is None:
            outcome = extract_photos(open_extractor(model, regions=regions, threads=1), photos, output, advance)
        else:
            outcome = extract_on_cluster(cluster, photos, output, advance, model=model, regions=regions)
    again = f" ({outcome.known:,} were there already)" if outcome.known else ""
    console.print(f"{counted(outcome.written, 'photo')} into {output}{again}.", soft_wrap=True)
    if skipped := skipped_photos(places):
        console.print(say_skipped(skipped), soft_wrap=True)
    if outcome.unreadable and not skip_bad:
        raise unreadable_photos(outcome.unreadable.values(), len(photos))
    for error in outcome.unreadable.values():
        console.print(f"Not read: {error.wrong}", soft_wrap=True)

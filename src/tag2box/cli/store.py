"""``tag2box store``: looks into feature stores."""

from __future__ import annotations

import typer
from rich.console import Console
from rich.progress import track

from tag2box.cli.arguments import StoreFolder

store_app = typer.Typer(help="Look into a feature store.", no_args_is_help=True)


@store_app.command("info")
def info(folder: StoreFolder) -> None:
    """Say what a store holds."""
    from tag2box.store import FeatureStore

    store = FeatureStore(folder)
    regions = sum(shard.layout.places["features"][1][0] for shard in store.shards)
    size = sum(shard.path.stat().st_size for shard in store.shards)
    console = Console(highlight=False)
    console.print(f"extractor   {store.header.fingerprint}", markup=False, soft_wrap=True)
    console.print(f"dimension   {store.header.dimension}")
    console.print(f"images      {len(store):,}")
    console.print(f"regions     {regions:,}")
    console.print(f"shards      {len(store.shards):,} ({size / 1e6:,.1f} MB)")


@store_app.command("verify")
def verify(folder: StoreFolder) -> None:
    """Check every byte and every image of a store."""
    from tag2box.store import FeatureStore

    store = FeatureStore(folder)
    console = Console(stderr=True)
    for _ in track(
        store.verify(), "Verifying", total=len(store.shards), console=console, disable=not console.is_terminal
    ):
        pass
    Console(highlight=False).print(f"{len(store):,} images in {len(store.shards):,} shard(s) are sound.")

"""``tag2box store``: looks into feature stores."""

from __future__ import annotations

import typer
from rich.progress import track

from tag2box.cli.arguments import StoreFolder
from tag2box.cli.console import plain_console
from tag2box.store import FeatureStore

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

"""``tag2box studio``: the page on which a person looks through photos and says what is wrong."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from threading import Timer
from typing import Annotated

import typer

from tag2box.cli.arguments import ModelFolder
from tag2box.cli.terminal import plain_console
from tag2box.data import read_tags
from tag2box.errors import InputError
from tag2box.model import Model
from tag2box.product.own_photos import open_own
from tag2box.product.run import Run
from tag2box.product.run_files import RUN_NAME

OWN_RUN = Path("tag2box-studio")
"""Where photos that are dropped on the page are kept, unless somebody says otherwise."""
SOON = 0.5
"""Seconds until the browser is opened: the page is there by then."""


def studio(
    photos: Annotated[
        Path | None,
        typer.Argument(
            metavar="[PHOTOS or RUN]",
            help="Tagged photos, as for localize; or the folder of a run. Without, photos are dropped on the page.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder of the run; without, PHOTOS.studio beside the photos.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; if it is taken, another one.")] = 8642,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
    model: ModelFolder = None,
) -> None:
    """Find, look and correct on a page in the browser; on this machine, for nobody else."""
    from tag2box.web.serving import Server, listen
    from tag2box.web.studio import Studio

    console = plain_console()
    with open_run(photos, output, Model.open(model, threads=1)) as run:
        at = listen(port)
        if port not in {0, at.port}:
            console.print(f"Port {port} is taken; this is {at.port}.")
        shown = Studio(run)
        server = Server(shown, at)
        console.print(f"{server.address}\nThe run is in {run.folder}. Ctrl-C ends the studio.", soft_wrap=True)
        if not no_browser:
            opening = Timer(SOON, webbrowser.open, [server.address])
            opening.daemon = True
            opening.start()
        shown.start()
        try:
            server.run()
        finally:
            shown.close()


def open_run(photos: Path | None, output: Path | None, model: Model) -> Run:
    """The run of these photos, which goes on or begins; the run that is named; or one without photos."""
    if photos is None:
        return open_own(output if output is not None else OWN_RUN, model)
    if not (photos / RUN_NAME).is_file():
        beside = photos.resolve()
        return Run.begin(output or beside.with_name(f"{beside.name}.studio"), read_tags(photos), model)
    if output is not None:
        raise InputError(f"{photos} is a run already.", "photos, or no -o", "leave out -o.")
    return Run.open(photos, model)

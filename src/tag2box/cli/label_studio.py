"""``tag2box labelstudio``: boxes into a project, and a backend that learns from its annotators."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Annotated

import typer

from tag2box.cli.arguments import ModelFolder
from tag2box.cli.terminal import plain_console, step_progress
from tag2box.data.formats.coco import read_boxes
from tag2box.doors.label_studio import Backend, LabelStudio, backend_server, is_loopback, push
from tag2box.model import Model
from tag2box.product.run import Run
from tag2box.progress import Report
from tag2box.words import counted

label_studio_app = typer.Typer(
    help="Show the boxes of a run in Label Studio, and learn from what people draw there.", no_args_is_help=True
)

RunFolder = Annotated[
    Path, typer.Argument(metavar="RUN", help="A folder written by tag2box localize.", show_default=False)
]


@label_studio_app.command("push")
def push_boxes(
    run: RunFolder,
    url: Annotated[
        str, typer.Option(envvar="LABEL_STUDIO_URL", help="Of the server: http://localhost:8080.", show_default=False)
    ],
    project: Annotated[int, typer.Option(min=1, help="Number of the project, as in its address.", show_default=False)],
    token: Annotated[
        str,
        typer.Option(
            envvar="LABEL_STUDIO_API_KEY",
            help="A user's token; better in the environment, where nobody reads it.",
            show_default=False,
        ),
    ],
) -> None:
    """Give the tasks of a project the boxes of their photos, as predictions to accept or correct."""
    console = plain_console()
    labelled, server = read_boxes(run), LabelStudio(url, token)
    with ExitStack() as shown:

        @cache
        def progress(total: int) -> Report:
            return shown.enter_context(step_progress("Sending boxes", total, console))

        pushed = push(labelled, server, project, lambda done, total: progress(total)(done, {}))
    console.print(f"{counted(pushed.sent, 'task')} of project {project} got boxes.", soft_wrap=True)
    for number, words in [
        (pushed.already, "had these boxes already"),
        (pushed.without_boxes, "left alone, without a box to show"),
        (pushed.unclear, "left alone: several could be the same photo"),
        (pushed.strangers, "left alone, with photos that are not in the run"),
    ]:
        if number:
            console.print(f"  {counted(number, 'task')} {words}.", soft_wrap=True)


@label_studio_app.command("serve")
def serve(
    run: RunFolder,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where Label Studio asks.")] = 9090,
    host: Annotated[
        str, typer.Option(help="Address to listen at; others than this machine's own can be reached by others.")
    ] = "127.0.0.1",
    model: ModelFolder = None,
) -> None:
    """Be the ML backend of a project: answer with boxes, and solve the run again when a person corrects one."""
    console = plain_console()
    with Run.open(run, Model.open(model, threads=1)) as opened:
        backend = Backend(opened, lambda words: console.print(words, soft_wrap=True))
        with backend_server(backend, host, port) as server, backend:
            if not is_loopback(host):
                console.print(f"Warning: whoever reaches {host}:{port} can change this run.", soft_wrap=True)
            address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
            console.print(
                f"Label Studio finds the boxes at {address} (Settings > Model). Ctrl-C ends it.", soft_wrap=True
            )
            server.serve_forever()

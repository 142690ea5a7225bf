"""The addresses of the studio: each asks the studio for one thing and answers with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any, TypeVar, final

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tag2box.data.tags import clean_tags, split_tags
from tag2box.errors import InputError
from tag2box.web.bodies import body_of, ids_of, json_of, label_of, labels_of, share_of, title_of, word_of
from tag2box.web.offers import (
    WRITABLE,
    class_file,
    classes_of,
    detections_in,
    export_zip,
    film_of,
    other_places,
    scores_of,
)
from tag2box.web.studio import Studio
from tag2box.web.uploads import MOST_BYTES, Arrived, arrived, arriving, take

T = TypeVar("T")
KINDS_OF_ASSETS = {"css": "text/css", "js": "text/javascript", "html": "text/html", "svg": "image/svg+xml"}
NOT_KEPT = {"cache-control": "no-store"}
KEPT = {"cache-control": "private, max-age=3600"}
MOST_UPLOADS = 4
"""Photos that arrive at the same time."""


def make_app(studio: Studio) -> Starlette:
    """The application; it has no door of its own, the gate is around it."""
    handlers: dict[Any, Callable[[Request, Exception], Awaitable[Response]]] = {
        InputError: _refused,
        HTTPException: _http_error,
        OSError: _disk_refuses,
    }

    @asynccontextmanager
    async def open_until_the_end(_app: Starlette) -> AsyncIterator[None]:
        yield
        studio.close()  # here already: what waits for it in other threads would keep the server

    middleware = [Middleware(GZipMiddleware)]
    return Starlette(
        routes=_routes(Desk(studio)), middleware=middleware, exception_handlers=handlers, lifespan=open_until_the_end
    )


def _routes(desk: Desk) -> list[Route]:
    return [
        Route("/", desk.page),
        Route("/assets/{name}", desk.asset),
        Route("/state", desk.state),
        Route("/events", desk.events),
        Route("/photo/{key}", desk.photo),
        Route("/photo/{key}/regions", desk.regions),
        Route("/thumb/{key}", desk.thumb),
        Route("/film", desk.film),
        Route("/scores", desk.scores),
        Route("/find", desk.find, methods=["POST"]),
        Route("/correct", desk.correct, methods=["POST"]),
        Route("/accept", desk.accept, methods=["POST"]),
        Route("/undo", desk.undo, methods=["POST"]),
        Route("/redo", desk.redo, methods=["POST"]),
        Route("/tags", desk.tags, methods=["POST"]),
        Route("/threshold", desk.threshold, methods=["POST"]),
        Route("/photos/{name}", desk.add, methods=["PUT"]),
        Route("/detect", desk.detect, methods=["PUT"]),
        Route("/export/{form}", desk.export),
        Route("/classes", desk.classes),
    ]


async def _refused(_request: Request, error: Exception) -> Response:
    if not isinstance(error, InputError):
        raise error
    words = {"error": error.wrong, "expected": error.expected, "remedy": error.remedy}
    return JSONResponse(words, 400, headers=NOT_KEPT)


async def _http_error(_request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    return JSONResponse({"error": error.detail, "expected": "", "remedy": ""}, error.status_code, headers=NOT_KEPT)


async def _disk_refuses(_request: Request, error: Exception) -> Response:
    """What was to be kept is not kept, and that is said."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    words = {"error": f"the disk refuses: {reason}.", "expected": "", "remedy": "Make room, and say it again."}
    return JSONResponse(words, 507, headers=NOT_KEPT)


@final
class Desk:
    """Answers requests; whatever touches the run is done by the studio's one thread."""

    def __init__(self, studio: Studio) -> None:
        """The page's files are read once: names in addresses are looked up, never opened."""
        self.studio = studio
        self.assets = {one.name: one.read_bytes() for one in files("tag2box").joinpath("assets", "studio").iterdir()}
        self._uploads = asyncio.Semaphore(MOST_UPLOADS)

    async def page(self, _request: Request) -> Response:
        """The page."""
        return Response(self.assets["index.html"], media_type="text/html", headers=NOT_KEPT)

    async def asset(self, request: Request) -> Response:
        """A file of the page."""
        name = request.path_params["name"]
        if name not in self.assets:
            raise HTTPException(404, "there is no such file")
        return Response(self.assets[name], media_type=KINDS_OF_ASSETS[name.rsplit(".", 1)[-1]], headers=NOT_KEPT)

    async def state(self, request: Request) -> Response:
        """Everything, or what is new after a snapshot of this studio."""
        after = request.query_params.get("after", "0")
        snapshot = self.studio.snapshot
        news = snapshot.news(int(after) if after.isdecimal() and len(after) < 12 else 0)
        return JSONResponse({**self.studio.about(), "formats": WRITABLE, "photos": news}, headers=NOT_KEPT)

    async def events(self, request: Request) -> Response:
        """What happens, for as long as the page is open."""
        mark = request.headers.get("last-event-id") or request.query_params.get("after", "")
        stream = self.studio.events.follow(mark)
        return StreamingResponse(stream, media_type="text/event-stream", headers=NOT_KEPT)

    async def photo(self, request: Request) -> Response:
        """A photo, large enough to work on."""
        path = self.studio.path_of(request.path_params["key"])
        content = await asyncio.to_thread(self.studio.thumbnails.large, path)
        return Response(content, media_type="image/webp", headers=KEPT)

    async def thumb(self, request: Request) -> Response:
        """A photo for the grid."""
        path = self.studio.path_of(request.path_params["key"])
        content = await asyncio.to_thread(self.studio.thumbnails.small, path)
        return Response(content, media_type="image/webp", headers=KEPT)

    async def regions(self, request: Request) -> Response:
        """Where else the things of a photo may be."""
        name = self.studio.name_of(request.path_params["key"])
        places = await asyncio.to_thread(other_places, self.studio.run, name)
        return JSONResponse({"places": places}, headers=NOT_KEPT)

    async def film(self, request: Request) -> Response:
        """EM at work on a class."""
        label = label_of(request.query_params.get("label"))
        return JSONResponse(film_of(self.studio.run.found, label), headers=NOT_KEPT)

    async def scores(self, request: Request) -> Response:
        """What a class would be found with, here and elsewhere."""
        label = label_of(request.query_params.get("label"))
        return JSONResponse(scores_of(self.studio.run.found, label), headers=NOT_KEPT)

    async def find(self, request: Request) -> Response:
        """Look for everything."""
        await json_of(request, ())
        await self._done(self.studio.find)
        return self._answer({})

    async def correct(self, request: Request) -> Response:
        """Keep what a person says; it is on the disk when this answers."""
        word = word_of(await json_of(request, ("photo", "label", "kind", "box", "row", "point")))
        return self._answer({"correction": await self._done(lambda: self.studio.say(word))})

    async def accept(self, request: Request) -> Response:
        """Say of many boxes at once that they are right: those that are doubted no more than so much."""
        given = await json_of(request, ("max_doubt", "labels"))
        doubt, labels = share_of(given.get("max_doubt"), "max_doubt"), labels_of(given.get("labels", []))
        return self._answer({"accepted": await self._done(lambda: self.studio.accept_up_to(doubt, labels))})

    async def undo(self, request: Request) -> Response:
        """Take back what was said last."""
        await json_of(request, ())
        return self._answer({"correction": await self._done(self.studio.undo)})

    async def redo(self, request: Request) -> Response:
        """Say again what was taken back last."""
        await json_of(request, ())
        return self._answer({"correction": await self._done(self.studio.redo)})

    async def tags(self, request: Request) -> Response:
        """Say that a thing is in several photos."""
        given = await json_of(request, ("photos", "label"))
        keys, label = ids_of(given.get("photos")), label_of(given.get("label"))
        return self._answer({"tagged": await self._done(lambda: self.studio.tag(keys, label))})

    async def threshold(self, request: Request) -> Response:
        """Let a class count as found from another score on."""
        given = await json_of(request, ("label", "min_score"))
        label, score = label_of(given.get("label")), share_of(given.get("min_score"), "the score")
        await self._done(lambda: self.studio.keep(self.studio.keepsakes.found_from(label, score)))
        return self._answer({})

    async def add(self, request: Request) -> Response:
        """Take a photo into the run."""
        title = title_of(request.path_params["name"])
        tags = clean_tags(split_tags(request.query_params.get("tags", "")), "the tags of the photo")
        async with self._arriving(request) as given:
            key = await self._done(lambda: take(self.studio, given, title, tags))
        return self._answer({"photo": key})

    async def detect(self, request: Request) -> Response:
        """What of the learned classes is in a photo that is not of the run."""
        async with self._arriving(request) as given:
            seen = await self._done(lambda: detections_in(self.studio.run, self._known(), given.path))
        return JSONResponse(seen, headers=NOT_KEPT)

    async def export(self, request: Request) -> Response:
        """Photos and boxes for another tool."""
        form, doubt = request.path_params["form"], request.query_params.get("max_doubt")
        most = share_of(_number(doubt), "max_doubt") if doubt is not None else None
        path = await self._done(lambda: export_zip(self.studio.run, form, most))
        cleaning = BackgroundTask(path.unlink, missing_ok=True)
        return FileResponse(path, filename=f"tag2box-{form}.zip", background=cleaning, headers=NOT_KEPT)

    async def classes(self, _request: Request) -> Response:
        """The class file."""
        content = await self._done(lambda: class_file(self._known()))
        headers = {**NOT_KEPT, "content-disposition": 'attachment; filename="things.classes"'}
        return Response(content, media_type="application/octet-stream", headers=headers)

    async def _done(self, job: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self.studio.do(job))

    def _answer(self, more: dict[str, Any]) -> Response:
        return JSONResponse({"number": self.studio.snapshot.number, **more}, headers=NOT_KEPT)

    @asynccontextmanager
    async def _arriving(self, request: Request) -> AsyncIterator[Arrived]:
        """The photo that is the body of a request."""
        async with self._uploads:
            content = await body_of(request, MOST_BYTES)
            with arriving(self.studio.run.folder, content) as path:
                yield await asyncio.to_thread(arrived, path, content, self.studio.child)

    def _known(self) -> Any:
        self.studio.found()
        return classes_of(self.studio.run, self.studio.keepsakes.min_scores)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None

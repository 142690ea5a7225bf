"""Pages of photos: what stands on them, that nothing harmful does, and what they cost."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tag2box.viz import NEUTRAL, RIGHT, DrawnBox, PagePhoto, PageSection, write_page
from tag2box.viz.pages import THUMBNAIL


class Opener:
    """A stand-in for opening photos, which are all 4 to 3; it remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def __call__(self, path: Path, longest: int) -> np.ndarray:
        self.asked.append((path.name, longest))
        return np.full((max(1, round(longest * 0.75)), longest, 3), (0, 0, 128), dtype=np.uint8)


def photo(
    name: str = "photo.jpg", *boxes: DrawnBox, size: tuple[int, int] = (750, 1000), caption: str = ""
) -> PagePhoto:
    return PagePhoto(Path(name), *size, boxes, caption)


def box(*edges: float, words: str = "", colour: str = RIGHT) -> DrawnBox:
    return DrawnBox(np.array(edges, dtype=np.float32), words, colour)


def written(folder: Path, *sections: PageSection, opener: Opener | None = None) -> str:
    write_page(folder / "page.html", "A <title>", "some & words", sections, opener or Opener())
    return (folder / "page.html").read_text(encoding="utf-8")


def pictures(page: str) -> list[Image.Image]:
    found = re.findall(r"data:image/jpeg;base64,([A-Za-z0-9+/=]+)", page)
    return [Image.open(io.BytesIO(base64.b64decode(each))) for each in found]


def test_a_page_shows_photos_with_their_boxes_and_escapes_words(tmp_path: Path) -> None:
    drawn = box(100, 150, 500, 750, words="a <b> & c")
    section = PageSection("cats & <dogs>", "two <i>", [photo("p", drawn, caption="words & <more> '\"")], rest="<rest>")
    page = written(tmp_path, section)
    for words in ("A <title>", "some & words", "cats & <dogs>", "two <i>", "a <b> & c", "words & <more> '\"", "<rest>"):
        assert html.escape(words) in page
        assert words not in page
    assert "left:10.00%;top:20.00%;width:40.00%;height:80.00%" in page
    assert [picture.size for picture in pictures(page)] == [(THUMBNAIL, THUMBNAIL * 3 // 4)]


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ((100, 300, 400, 600), "above left' style='max-width:300.0%"),  # 900 of 300 are right of its edge
        ((600, 300, 900, 600), "above right' style='max-width:300.0%"),
        ((100, 20, 400, 600), "inside left' style='max-width:300.0%"),  # no room above
    ],
)
def test_words_stand_outside_the_box_if_there_is_room_and_never_leave_the_photo(
    tmp_path: Path, edges: tuple[int, int, int, int], words: str
) -> None:
    page = written(tmp_path, PageSection("h", "w", [photo("p", box(*edges, words="dog"))]))
    assert words in page


def test_several_lines_of_words_need_more_room(tmp_path: Path) -> None:
    edges = (100, 100, 400, 600)  # room for one line
    for also, up in [((), "above"), ((box(*edges, words="cat"),), "inside")]:
        drawn = replace(box(*edges, words="dog"), also=also)
        assert f"class='words {up} left'" in written(tmp_path, PageSection("h", "w", [photo("p", drawn)]))


def test_doubt_does_not_hang_on_a_colour_alone(tmp_path: Path) -> None:
    both = [box(0, 0, 9, 9, colour=RIGHT), box(0, 0, 9, 9, colour=NEUTRAL)]
    page = written(tmp_path, PageSection("h", "w", [photo("p", *both)]))
    assert re.findall(r"class='(box[^']*)'.*?--colour:(#\w+)", page) == [("box", RIGHT), ("box doubtful", NEUTRAL)]


def test_a_photo_is_opened_once_and_stands_in_the_page_once(tmp_path: Path) -> None:
    opener = Opener()
    sections = [
        PageSection("one", "", [photo("a"), photo("b")], film=[photo("a")]),
        PageSection("two", "", [photo("a")]),
    ]
    page = written(tmp_path, *sections, opener=opener)
    assert [name for name, _ in opener.asked] == ["a", "b"]
    assert len(pictures(page)) == 2
    assert re.findall(r"<image id='(\w+)'|<use href='#(\w+)'/>", page) == [
        ("p0", ""),
        ("", "p0"),
        ("p1", ""),
        ("", "p0"),
    ]
    assert page.count("<figure") == 4


def test_photos_are_shrunk_and_never_enlarged(tmp_path: Path) -> None:
    opener = Opener()
    photos = [photo("large", size=(3000, 4000)), photo("small", size=(75, 100)), photo("tall", size=(3000, 1))]
    written(tmp_path, PageSection("h", "w", photos), opener=opener)
    assert opener.asked == [("large", THUMBNAIL), ("small", 100), ("tall", THUMBNAIL)]


def test_every_photo_can_be_enlarged_with_the_keyboard(tmp_path: Path) -> None:
    """A button has focus and keys of its own; a dialog has Escape."""
    page = written(tmp_path, PageSection("h", "w", [photo("a", caption="a.jpg"), photo("b", caption="b.jpg")]))
    buttons = re.findall(r"<button type='button' class='photo' aria-label='([^']*)'>", page)
    assert buttons == ["Enlarge a.jpg", "Enlarge b.jpg"]
    assert page.count("<dialog") == 1
    assert re.findall(r"data-by='(-?\d)' aria-label='([^']*)'", page) == [
        ("-1", "Previous photo"), ("1", "Next photo"), ("0", "Close")
    ]  # fmt: skip


def test_a_browser_runs_our_script_and_no_other_and_asks_no_network(tmp_path: Path) -> None:
    page = written(tmp_path, PageSection("<script>alert(1)</script>", "w", [photo()]))
    (script,) = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    (policy,) = re.findall(r"http-equiv='Content-Security-Policy' content=\"([^\"]*)\"", page)
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy == (f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{allowed}'")
    assert "http" not in page.replace("http-equiv", "")


def test_several_sections_are_listed_at_the_top(tmp_path: Path) -> None:
    sections = [PageSection(name, "", []) for name in ("cats & co", "dogs")]
    page = written(tmp_path, *sections)
    assert "<a href='#s0'>cats &amp; co</a> <a href='#s1'>dogs</a></nav>" in page
    assert "<section id='s1'><h2>dogs</h2>" in page
    assert "<nav" not in written(tmp_path, sections[0])
    assert "<div class='photos'>" not in page  # nothing to show


def peak_memory(folder: Path, photos: int) -> int:
    """Bytes that writing a page of so many photos needs at most."""
    rng = np.random.default_rng(0)

    def noise(path: Path, longest: int) -> np.ndarray:
        return rng.integers(0, 256, (longest // 2, longest, 3), dtype=np.uint8)

    made: Iterator[PagePhoto] = (photo(f"{number}.jpg", size=(100, 200)) for number in range(photos))
    tracemalloc.start()
    try:
        write_page(folder / "page.html", "t", "w", [PageSection("h", "w", made)], noise)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_photos(tmp_path: Path) -> None:
    few = peak_memory(tmp_path, 20)
    size = (tmp_path / "page.html").stat().st_size
    many = peak_memory(tmp_path, 400)
    assert (tmp_path / "page.html").stat().st_size > 19 * size
    assert many - few < size  # 380 photos need less than 20 have on the page


def test_a_page_that_cannot_be_finished_leaves_the_old_one(tmp_path: Path) -> None:
    before = written(tmp_path, PageSection("h", "w", [photo()]))

    def refuse(path: Path, longest: int) -> np.ndarray:
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        write_page(tmp_path / "page.html", "t", "w", [PageSection("h", "w", [photo()])], refuse)
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == before


def test_pages_and_drawings_do_not_wait_for_matplotlib(tmp_path: Path) -> None:
    code = f"""
import sys
from pathlib import Path
import numpy as np
import tag2box.cli.photos, tag2box.product.report
from tag2box.viz import DrawnBox, PagePhoto, PageSection, draw_photo, draw_sheet, write_page
folder = Path({str(tmp_path)!r})
photo = PagePhoto(Path("a"), 30, 40, (DrawnBox(np.array([1, 2, 30, 20], np.float32), "words"),))
def grey(path, longest): return np.full((30, 40, 3), 90, np.uint8)
write_page(folder / "page.html", "t", "w", [PageSection("h", "w", [photo])], grey)
draw_sheet(folder / "sheet.png", [photo], grey)
draw_photo(folder / "photo.jpg", photo, grey)
print([name for name in ("matplotlib", "torch") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"

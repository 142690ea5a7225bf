"""The page in a real browser, as a person uses it. No request may leave this machine, no error may be logged."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from planted_studio import BOXES, RED, doubt_less, picture, served, settle, write_photos
from tag2box.product.corrections import Journal, Shows, ShowsNot, Tag, Undo
from tag2box.product.run_files import CORRECTIONS_NAME
from tag2box.web.state import photo_id
from tag2box.web.studio import Studio

PROGRAM = Path(__file__).parents[1] / "planted_studio.py"


def tile(page: Page, name: str) -> str:
    return f'#grid button[data-id="{photo_id(name)}"]'


def box_in(page: Page, name: str, label: str = "thing") -> list[float]:
    """Where the grid shows a box."""
    rect = page.locator(f'{tile(page, name)} g[data-label="{label}"] .over')
    x, y, width, height = (float(rect.get_attribute(key) or "nan") for key in ("x", "y", "width", "height"))
    return [x, y, x + width, y + height]


def expect_box(page: Page, name: str, box: list[float], label: str = "thing") -> None:
    """Wait until the grid shows a box there."""
    rect = page.locator(f'{tile(page, name)} g[data-label="{label}"] .over')
    for key, value in zip(("x", "y"), box, strict=False):
        expect(rect).to_have_attribute(key, f"{value:g}")


def whats(studio: Studio) -> list[type]:
    return [type(one.what) for one in studio.run.journal.said()]


def open_photo(page: Page, name: str) -> None:
    page.locator(tile(page, name)).click()
    expect(page.locator("#photo")).to_be_visible()
    expect(page.locator("#boxes .offer").first).to_be_attached()


def drag(page: Page, box: list[float]) -> None:
    """Draw a box, in pixels of the photo."""
    frame = page.locator("#frame").bounding_box()
    assert frame is not None
    scale = frame["width"] / 80
    page.mouse.move(frame["x"] + box[0] * scale, frame["y"] + box[1] * scale)
    page.mouse.down()
    page.mouse.move(frame["x"] + box[2] * scale, frame["y"] + box[3] * scale, steps=4)
    page.mouse.up()


def touch_and_drag(page: Page, box: list[float]) -> None:
    """Draw a box with a finger: the browser must not take the gesture for scrolling."""
    frame = page.locator("#frame").bounding_box()
    assert frame is not None
    x0, y0, x1, y1 = (edge * frame["width"] / 80 for edge in box)
    finger = page.context.new_cdp_session(page)
    ways = [(x0, y0), (x0 + 2, (y0 + y1) / 2), (x1, y1)]  # straight down first
    for kind, way in zip(("touchStart", "touchMove", "touchMove"), ways, strict=True):
        points = [{"x": frame["x"] + way[0], "y": frame["y"] + way[1]}]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def other_colour(page: Page) -> int:
    """0 if red is meant by the next correction, 1 if green: what the boxes are not on."""
    return 1 if box_in(page, "thing/0.png") == BOXES[0] else 0


def test_a_click_in_the_middle_of_a_thing_means_the_thing(page: Page, studio: Studio) -> None:
    meant = other_colour(page)
    before = box_in(page, "thing/0.png")
    open_photo(page, "thing/0.png")
    frame = page.locator("#frame").bounding_box()
    assert frame is not None
    x, y = frame["x"] + frame["width"] * (0.25 + 0.5 * meant), frame["y"] + frame["height"] * 0.25
    page.mouse.click(x, y)
    page.keyboard.press("Escape")
    expect_box(page, "thing/0.png", BOXES[meant])
    assert box_in(page, "thing/0.png") != before
    assert whats(studio) == [Shows]


def test_a_click_on_a_number_means_its_outline(page: Page, studio: Studio) -> None:
    open_photo(page, "thing/0.png")
    rect = page.locator('#boxes [data-offer="1"] .over')
    x, y = (float(rect.get_attribute(key) or "nan") for key in ("x", "y"))
    page.locator('#names [data-place="2"]').click()
    page.keyboard.press("Escape")
    expect(page.locator("#counts")).to_contain_text("1 corrected")
    (said,) = studio.run.journal.said()
    assert isinstance(said.what, Shows)
    assert said.what.box[:2] == (x, y)


def test_a_correction_moves_the_others_and_undo_and_redo_move_them_back_and_forth(page: Page, studio: Studio) -> None:
    meant = other_colour(page)
    before = {number: box_in(page, f"thing/{number}.png") for number in range(5)}
    open_photo(page, "thing/0.png")
    frame = page.locator("#frame").bounding_box()
    assert frame is not None
    page.mouse.click(frame["x"] + frame["width"] * (0.25 + 0.5 * meant), frame["y"] + frame["height"] * 0.25)
    expect(page.locator("#photo-changes")).to_have_text("4 photos changed")
    page.keyboard.press("Escape")
    assert [box_in(page, f"thing/{number}.png") for number in range(5)] == [
        BOXES[(number + meant) % 4] for number in range(5)
    ]
    assert page.locator("#grid .tile.changed").count() == 4
    assert page.locator("#grid .flash").count() == 4
    page.locator("#changes").click()
    expect(page.locator("#shown")).to_have_text("4 of 8 photos")
    page.locator("#filter-state").select_option("")
    page.keyboard.press("Control+z")
    for number, box in before.items():
        expect_box(page, f"thing/{number}.png", box)
    page.keyboard.press("Control+Shift+z")
    for number in range(5):
        expect_box(page, f"thing/{number}.png", BOXES[(number + meant) % 4])
    page.locator(tile(page, "thing/3.png")).click()
    expect(page.locator("#photo-changes")).to_have_text("3 photos changed")  # one was looked at
    assert whats(studio) == [Shows, Undo, Undo]


def test_a_box_is_drawn_with_the_mouse_and_with_keys(page: Page, studio: Studio) -> None:
    open_photo(page, "thing/1.png")
    drag(page, [10, 10, 50, 40])
    expect(page.locator("#photo-words")).to_have_text("You said where it is.")
    (said,) = studio.run.journal.said()
    assert isinstance(said.what, Shows)
    assert said.what.row is None
    assert max(abs(one - two) for one, two in zip(said.what.box, [10, 10, 50, 40], strict=True)) < 1
    page.keyboard.press("b")
    for key in ("ArrowRight", "ArrowDown", "Shift+ArrowRight"):
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(page.locator("#boxes .drawing")).to_have_count(0)
    settle(studio)
    assert whats(studio) == [Shows, Shows]
    page.keyboard.press("b")
    page.keyboard.press("Escape")  # lets the box go, and not the photo
    expect(page.locator("#photo")).to_be_visible()
    expect(page.locator("#boxes .drawing")).to_have_count(0)
    assert len(studio.run.journal.said()) == 2


def test_not_here_and_another_tag(page: Page, studio: Studio) -> None:
    open_photo(page, "thing/2.png")
    page.keyboard.press("t")
    page.keyboard.type("pen")
    page.keyboard.press("Enter")
    expect(page.locator("#photo-tags button")).to_have_text(["pen", "thing"])
    expect(page.locator("#stage")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.locator('#photo-tags [aria-checked="true"]')).to_have_text("thing")
    page.locator("#absent").click()
    expect(page.locator("#counts")).to_contain_text("1 not there")
    settle(studio)
    page.keyboard.press("Escape")
    expect(page.locator(f"{tile(page, 'thing/2.png')} .caption")).to_contain_text("no thing")
    assert [one.what for one in studio.run.journal.said()] == [
        Tag("thing/2.png", "pen"),
        ShowsNot("thing/2.png", "thing"),
    ]


def test_everything_by_keys_alone(page: Page, studio: Studio) -> None:
    """From the address bar: Tab to the grid, arrows, Enter, and through all photos with Enter."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.locator("#grid .tile:focus").count():
            break
    expect(page.locator("#grid .tile:focus")).to_have_count(1)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.locator("#photo")).to_be_visible()
    for done in range(1, 8):
        expect(page.locator("#accept")).to_be_enabled()
        page.keyboard.press("Enter")
        expect(page.locator("#counts")).to_contain_text(f"{done} looked at")
    settle(studio)
    assert whats(studio) == [Shows] * 7
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.locator("#photo")).to_be_hidden()
    expect(page.locator("#grid .tile:focus")).to_have_count(1)
    for left in (6, 5):
        page.keyboard.press("Control+z")
        expect(page.locator("#counts")).to_contain_text(f"{left} looked at")


def test_boxes_are_hidden_while_h_is_held_and_the_photo_comes_closer(page: Page) -> None:
    open_photo(page, "thing/0.png")
    page.keyboard.down("h")
    expect(page.locator("#boxes")).to_be_hidden()
    page.keyboard.up("h")
    expect(page.locator("#boxes")).to_be_visible()
    before = page.locator("#frame").bounding_box()
    page.keyboard.press("+")
    closer = page.locator("#frame").bounding_box()
    page.keyboard.press("0")
    again = page.locator("#frame").bounding_box()
    assert before is not None
    assert closer is not None
    assert closer["width"] == pytest.approx(1.5 * before["width"])
    assert again == before
    page.mouse.move(before["x"] + 100, before["y"] + 100)
    page.mouse.wheel(0, -300)
    wheeled = page.locator("#frame").bounding_box()
    assert wheeled is not None
    assert wheeled["width"] > before["width"]


def test_filters_film_and_threshold(page: Page, studio: Studio) -> None:
    page.locator("#classes .chip", has_text="pen").click()
    expect(page.locator("#shown")).to_have_text("2 of 8 photos")
    page.locator("#classes .chip", has_text="pen").click()
    page.locator("#filter-doubt").fill("0.6")
    expect(page.locator("#shown")).to_have_text("0 of 8 photos")
    page.locator("#filter-doubt").fill("0")
    expect(page.locator("#shown")).to_have_text("8 photos")
    page.locator("#classes li", has_text="thing").locator("summary").click()
    chart = page.locator("#classes li", has_text="thing").locator(".scores")
    expect(chart.locator(".own")).to_have_count(5)
    expect(chart.locator("p")).to_contain_text("of its 5 photos, and in")
    page.locator("#classes li", has_text="thing").get_by_text("Watch EM").click()
    expect(page.locator("#film-words")).to_contain_text("Step 0 of")
    expect(page.locator("#shown")).to_have_text("5 of 8 photos")
    last = page.locator("#film-step").get_attribute("max") or ""
    page.locator("#film-step").fill(last)
    expect(page.locator("#film-words")).to_contain_text(f"Step {last} of {last}")
    page.locator("#film-close").click()
    expect(page.locator("#shown")).to_have_text("8 photos")
    before = chart.locator("line").get_attribute("x1")
    page.locator("#classes li", has_text="thing").locator("details input").fill("0.8")
    expect(chart.locator("line")).not_to_have_attribute("x1", before or "")
    page.locator("#classes li", has_text="thing").locator("details input").dispatch_event("change")
    expect(page.locator("#classes li", has_text="thing").locator("output")).to_have_text("80\u00a0%")
    page.reload()
    expect(page.locator("#classes li", has_text="thing").locator("output")).to_have_text("80\u00a0%")
    assert studio.keepsakes.min_score("thing") == 0.8


def test_many_boxes_are_accepted_at_once_and_taken_back_at_once(page: Page, studio: Studio) -> None:
    doubt_less(studio, "thing", [0.1, 0.2, 0.3, 0.4, 0.1])
    page.locator("#many summary").click()
    page.locator("#classes .chip", has_text="thing").click()
    expect(page.locator("#many-accept")).to_have_text("Accept 2 boxes of thing")
    page.locator("#many-doubt").fill("0.35")
    expect(page.locator("#many-accept")).to_have_text("Accept 4 boxes of thing")
    page.locator("#many-accept").click()
    expect(page.locator("#counts")).to_contain_text("4 accepted")
    settle(studio)
    page.locator("#undo").click()
    expect(page.locator("#counts")).to_contain_text("0 looked at")


def test_photos_are_given_found_and_tried(empty_page: Page, empty: Studio) -> None:
    page = empty_page
    expect(page.locator("#find")).to_be_disabled()
    contents = []
    for number in range(3):
        content = io.BytesIO()
        picture(number, **{f"q{number}": RED}).save(content, "PNG")
        contents.append({"name": f"{number}.png", "mimeType": "image/png", "buffer": content.getvalue()})
    page.locator("#drop-files").set_input_files(contents)  # type: ignore[arg-type]
    expect(page.locator("#drop-words")).to_contain_text("Say first what they show.")
    page.locator("#drop-tag").fill("<b>mug</b>")
    page.locator("#drop-files").set_input_files(contents)  # type: ignore[arg-type]
    expect(page.locator("#drop-words")).to_contain_text("3 photos of <b>mug</b> added.")
    page.locator("#find").click()
    expect(page.locator("#counts")).to_contain_text("3 photos, 3 boxes")
    expect(page.locator("#progress")).to_be_hidden()
    assert page.locator("#grid b, #classes b").count() == 0  # what people write is text
    expect(page.locator("#classes .chip")).to_have_text("<b>mug</b>")
    page.locator("#open-try").click()
    page.locator("#try-file").set_input_files(contents[0])  # type: ignore[arg-type]
    expect(page.locator("#try-words")).to_contain_text("Found: <b>mug</b>.")
    expect(page.locator("#try-boxes .accepted")).to_have_count(1)
    expect(page.locator("#try-list li").first).to_contain_text("Most like:")
    expect(page.locator("#try-list li").first.locator("button")).to_have_count(3)
    page.locator("#try-list button").first.click()
    expect(page.locator("#photo")).to_be_visible()
    expect(page.locator("#try")).to_be_hidden()


def test_a_folder_of_folders_brings_its_tags(empty_page: Page, empty: Studio, tmp_path: Path) -> None:
    folder = write_photos(tmp_path / "given")
    (folder / "thing" / "notes.txt").write_text("no photo")
    empty_page.locator("#drop-folder").set_input_files(folder)
    expect(empty_page.locator("#drop-words")).to_contain_text("8 photos of")
    tags = sorted(sorted(photo.tags) for photo in empty.run.given.photos)
    assert tags == [[], ["pen"], ["pen"], *[["thing"]] * 5]


def test_on_a_telephone(page: Page, studio: Studio) -> None:
    """Nothing is wider than the screen; what is drawn with a finger counts."""
    page.set_viewport_size({"width": 390, "height": 844})
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390
    open_photo(page, "thing/0.png")
    for name in ("#accept", "#absent", "#close-photo"):
        at = page.locator(name).bounding_box()
        assert at is not None
        assert at["height"] >= 44
        assert at["x"] + at["width"] <= 390
        assert at["y"] + at["height"] <= 844
    touch_and_drag(page, [10, 10, 50, 40])
    expect(page.locator("#photo-words")).to_have_text("You said where it is.")
    settle(studio)
    assert whats(studio) == [Shows]


def test_a_second_tab_hears_through_the_first_and_goes_on_without_it(page: Page, studio: Studio) -> None:
    second = page.context.new_page()
    second.goto(page.url)
    second.wait_for_selector("html[data-ready]", state="attached")
    open_photo(second, "pen/5.png")
    second.keyboard.press("Enter")
    expect(page.locator("#counts")).to_contain_text("1 looked at")
    page.close()
    settle(studio)
    second.keyboard.press("Control+z")
    expect(second.locator("#counts")).to_contain_text("0 looked at")


@contextmanager
def program(photos: Path, run: Path, port: int) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A studio in a process of its own, and its address."""
    command = [sys.executable, str(PROGRAM), str(photos), str(run), str(port)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        yield child, child.stdout.readline().strip()
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def test_after_a_kill_everything_that_was_saved_is_there(browser: Browser, photos: Path, tmp_path: Path) -> None:
    """The studio dies in the middle of solving again; what the page was told is on the disk."""
    run = tmp_path / "run"
    context = browser.new_context()
    page = context.new_page()
    with program(photos, run, 0) as (child, address):
        page.goto(address)
        expect(page.locator("#counts")).to_contain_text("7 boxes")
        page.locator(tile(page, "pen/5.png")).click()
        page.keyboard.press("x")
        expect(page.locator("#counts")).to_contain_text("1 not there")
        child.kill()
    assert [one.what for one in Journal(run / CORRECTIONS_NAME).said()] == [ShowsNot("pen/5.png", "pen")]
    with (run / CORRECTIONS_NAME).open("a") as journal:
        journal.write('{"number": 2, "kind": "sho')  # as if the next one had been cut off
    with program(photos, run, urlsplit(address).port or 0) as (child, address):
        page.goto(address)
        expect(page.locator("#counts")).to_contain_text("1 not there")
        expect(page.locator("#progress")).to_be_hidden()
        page.keyboard.press("Control+z")
        expect(page.locator("#counts")).to_contain_text("0 looked at")
    context.close()


def test_a_page_whose_studio_has_ended_says_so(browser: Browser, photos: Path, tmp_path: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    with program(photos, tmp_path / "run", 0) as (_, address):
        page.goto(address)
        expect(page.locator("#counts")).to_contain_text("7 boxes")
    expect(page.locator("#live")).to_contain_text("does not answer")
    context.close()


def test_a_name_that_leads_here_from_elsewhere_is_refused(browser: Browser, studio: Studio, chromium: str) -> None:
    """DNS rebinding: a page under another name is not ours."""
    with served(studio) as server:
        port = urlsplit(server.address).port
        rules = ["--host-resolver-rules=MAP evil.test 127.0.0.1"]
        with browser.browser_type.launch(executable_path=chromium, args=rules) as rebound:
            answer = rebound.new_page().goto(f"http://evil.test:{port}/")
            assert answer is not None
            assert answer.status == 421

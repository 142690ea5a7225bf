"""What the addresses answer, and what becomes of what they are told."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from starlette.testclient import TestClient

from planted_studio import BOXES, GREEN, RED, doubt_less, open_planted, picture, settle
from tag2box.boxes import box_overlaps
from tag2box.data.formats.coco import read_coco
from tag2box.errors import RunError
from tag2box.product.class_file import load_classes
from tag2box.product.corrections import Journal, Shows, ShowsNot, Tag, Undo
from tag2box.web.state import photo_id
from tag2box.web.studio import Studio

ZERO = photo_id("thing/0.png")


def state(client: TestClient, after: int = 0) -> Any:
    answer = client.get(f"/state?after={after}")
    assert answer.status_code == 200
    return answer.json()


def entry(client: TestClient, name: str) -> Any:
    return next(one for one in state(client)["photos"] if one["name"] == name)


def say(client: TestClient, **word: Any) -> Any:
    answer = client.post("/correct", json={"photo": ZERO, "label": "thing", **word})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_state_has_everything(client: TestClient) -> None:
    seen = state(client)
    assert seen["photos"][0]["name"] == "_none/7.png"
    assert len(seen["photos"]) == 8
    assert seen["counts"] == {"photos": 8, "boxes": 7, "unseen": 7, "accepted": 0, "corrected": 0, "absent": 0}
    first = entry(client, "thing/0.png")
    assert (first["width"], first["height"], first["tags"]) == (80, 60, ["thing"])
    (box,) = first["boxes"]
    assert box["box"] in BOXES
    assert {"score", "doubt", "absence"} <= set(box)
    assert box["said"] == "unseen"
    thing = next(one for one in seen["classes"] if one["label"] == "thing")
    assert thing["colour"].startswith("#")
    assert thing["words"]
    assert not seen["busy"]
    assert seen["progress"] is None


def test_after_a_snapshot_only_news_are_told(client: TestClient, studio: Studio) -> None:
    before = state(client)["number"]
    say(client, kind="accept")
    settle(studio)
    news = [one["name"] for one in state(client, before)["photos"]]
    assert "thing/0.png" in news
    assert not [name for name in news if not name.startswith("thing/")]  # no other class has changed
    assert state(client, state(client)["number"])["photos"] == []


def test_accepting_is_a_clamp_that_stays_accepted(client: TestClient, studio: Studio) -> None:
    box = entry(client, "thing/0.png")["boxes"][0]["box"]
    assert say(client, kind="accept")["correction"] == 1
    (said,) = studio.run.journal.said()
    assert isinstance(said.what, Shows)
    assert said.what.accepted
    assert said.what.row is not None
    settle(studio)
    assert (
        entry(client, "thing/0.png")["boxes"][0] | {"box": box, "doubt": 0.0, "said": "accepted"}
        == entry(client, "thing/0.png")["boxes"][0]
    )
    assert say(client, kind="accept")["correction"] is None  # it was said already
    assert len(studio.run.journal.said()) == 1


def test_many_boxes_are_accepted_in_one_breath_and_taken_back_in_one(client: TestClient, studio: Studio) -> None:
    assert client.post("/accept", json={"max_doubt": 0.9}).json()["accepted"] == 0  # every tag is suspected
    doubt_less(studio, "thing", [0.1, 0.2, 0.3, 0.4, 0.1])
    doubt_less(studio, "pen", [0.0, 0.9])
    assert client.post("/accept", json={"max_doubt": 0.3, "labels": ["thing"]}).json()["accepted"] == 4
    settle(studio)

    def said() -> dict[str, list[str]]:
        return {one["name"]: [box["said"] for box in one["boxes"]] for one in state(client)["photos"]}

    assert [number for number in range(5) if said()[f"thing/{number}.png"] == ["accepted"]] == [0, 1, 2, 4]
    client.post("/undo", json={})
    settle(studio)
    assert {word for words in said().values() for word in words} == {"unseen"}
    client.post("/redo", json={})
    settle(studio)
    assert [number for number in range(5) if said()[f"thing/{number}.png"] == ["accepted"]] == [0, 1, 2, 4]
    assert client.post("/accept", json={"max_doubt": 0.3}).json()["accepted"] == 1  # the pen: no tag is suspected
    assert client.post("/accept", json={"max_doubt": 0.3}).json()["accepted"] == 0


def test_scores_tell_a_class_from_photos_without_it(client: TestClient, studio: Studio) -> None:
    scores = client.get("/scores", params={"label": "thing"}).json()
    assert len(scores["own"]) == 5
    assert len(scores["elsewhere"]) == sum("thing" not in one["tags"] for one in state(client)["photos"])
    assert min(scores["own"]) > max(scores["elsewhere"])
    assert client.get("/scores", params={"label": "unicorn"}).json() == {"label": "unicorn", "own": [], "elsewhere": []}


def test_a_correction_moves_other_photos_and_they_are_named(client: TestClient, studio: Studio) -> None:
    """In each photo are a red and a green quarter: a person says which one is meant."""
    found = entry(client, "thing/0.png")["boxes"][0]["box"]
    others = [box for box in (BOXES[0], BOXES[1]) if box != found]
    mark = studio.events.mark
    say(client, kind="shows", box=others[0])
    settle(studio)
    assert entry(client, "thing/0.png")["boxes"][0]["said"] == "corrected"
    after = {name: entry(client, f"thing/{name}.png")["boxes"][0]["box"] for name in range(5)}
    colour = BOXES.index(others[0])
    assert [BOXES.index(after[number]) for number in range(5)] == [(number + colour) % 4 for number in range(5)]
    told = next(text for text in studio.events.since(mark)[0] if "event: solved" in text)
    moved = json.loads(told.split("data: ")[1])["moved"]
    assert {one["photo"] for one in moved} == {photo_id(f"thing/{number}.png") for number in range(1, 5)}
    assert {one["label"] for one in moved} == {"thing"}


def test_undo_and_redo_bring_the_very_boxes_back(client: TestClient, studio: Studio) -> None:
    before = state(client)["photos"]
    found = entry(client, "thing/0.png")["boxes"][0]["box"]
    say(client, kind="shows", box=next(box for box in (BOXES[0], BOXES[1]) if box != found))
    settle(studio)
    corrected = state(client)["photos"]
    assert corrected != before
    for address, expected in (("/undo", before), ("/redo", corrected), ("/undo", before)):
        assert client.post(address, json={}).json()["correction"] is not None
        settle(studio)
        assert state(client)["photos"] == expected
    assert client.post("/undo", json={}).json()["correction"] is None
    kinds = [type(one.what) for one in studio.run.journal.said()]
    assert kinds == [Shows, Undo, Undo, Undo]


def test_absent_tag_and_draw(client: TestClient, studio: Studio) -> None:
    say(client, kind="shows not")
    settle(studio)
    assert entry(client, "thing/0.png")["absent"] == ["thing"]
    assert entry(client, "thing/0.png")["boxes"] == []
    say(client, kind="tag")
    settle(studio)
    assert entry(client, "thing/0.png")["absent"] == []
    say(client, kind="shows", box=[3, 4, 30, 41])
    settle(studio)
    assert entry(client, "thing/0.png")["boxes"][0]["box"] == [3.0, 4.0, 30.0, 41.0]
    whats = [one.what for one in studio.run.journal.said()]
    assert whats == [
        ShowsNot("thing/0.png", "thing"),
        Tag("thing/0.png", "thing"),
        Shows("thing/0.png", "thing", (3.0, 4.0, 30.0, 41.0)),
    ]


def test_what_was_said_is_there_when_the_studio_is_opened_again(studio: Studio, photos: Path, tmp_path: Path) -> None:
    studio.do(lambda: studio.run.correct(ShowsNot("thing/0.png", "thing"))).result()
    colours = dict(studio.keepsakes.colours)
    studio.close()
    again = open_planted(photos, tmp_path / "run")
    try:
        assert again.snapshot.photos[ZERO]["absent"] == ["thing"]
        assert dict(again.keepsakes.colours) == colours
        assert again.history.undo == (1,)
    finally:
        again.close()


def test_a_second_studio_on_a_run_says_so(studio: Studio, photos: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="another process is at work"):
        open_planted(photos, tmp_path / "run")


def test_thumbs_and_photos_are_made_anew_and_small_ones_kept(client: TestClient, studio: Studio) -> None:
    for _ in range(2):
        answer = client.get(f"/thumb/{ZERO}")
        assert answer.headers["content-type"] == "image/webp"
        assert Image.open(io.BytesIO(answer.content)).size == (80, 60)
    assert len(list((studio.run.folder / "thumbs").iterdir())) == 1
    large = client.get(f"/photo/{ZERO}")
    assert Image.open(io.BytesIO(large.content)).format == "WEBP"
    assert client.get("/thumb/0000000000000000").status_code == 400


def test_other_places_are_offered_apart_from_each_other(client: TestClient) -> None:
    places = client.get(f"/photo/{ZERO}/regions").json()["places"]
    assert 2 <= len(places) <= 9
    assert {one["label"] for one in places} == {"thing"}
    (there,) = (box["box"] for box in entry(client, "thing/0.png")["boxes"])
    offered = [one["box"] for one in places]
    assert there not in offered
    assert any(box in offered for box in BOXES[:2])
    boxes = np.array(offered, dtype=np.float32)
    assert (box_overlaps(boxes, boxes) - np.eye(len(boxes))).max() <= 0.5


def test_a_click_means_a_region_around_it_and_not_the_one_that_is_there(client: TestClient, studio: Studio) -> None:
    (there,) = (box["box"] for box in entry(client, "thing/0.png")["boxes"])
    (other,) = (box for box in BOXES[:2] if box != there)
    middle = [(other[0] + other[2]) / 2, (other[1] + other[3]) / 2]
    say(client, kind="points", point=middle)
    (said,) = studio.run.journal.said()
    assert isinstance(said.what, Shows)
    assert list(said.what.box) == other
    assert said.what.row == studio.run.row_at("thing/0.png", said.what.box)
    settle(studio)
    assert entry(client, "thing/0.png")["boxes"][0]["box"] == other
    say(client, kind="points", point=middle)  # it is there already
    again = studio.run.journal.said()[-1].what
    assert isinstance(again, Shows)
    assert list(again.box) != other


def test_a_click_for_a_thing_that_was_never_found_goes_by_objectness(client: TestClient, studio: Studio) -> None:
    say(client, label="unicorn", kind="points", point=[20, 15])
    (said,) = studio.run.journal.said()
    assert isinstance(said.what, Shows)
    x0, y0, x1, y1 = said.what.box
    assert x0 <= 20 <= x1
    assert y0 <= 15 <= y1


def test_the_film_ends_where_the_boxes_are(client: TestClient) -> None:
    film = client.get("/film?label=thing").json()
    assert len(film["steps"]) == len(film["likelihoods"]) >= 2
    last = dict(zip(film["photos"], film["steps"][-1], strict=True))
    for one in state(client)["photos"]:
        for box in one["boxes"]:
            if box["label"] == "thing":
                assert last[one["id"]] == box["box"]
    assert client.get("/film?label=nothing").json()["steps"] == []


def test_exports_are_what_other_tools_read(client: TestClient, tmp_path: Path) -> None:
    answer = client.get("/export/coco")
    assert answer.status_code == 200
    zipfile.ZipFile(io.BytesIO(answer.content)).extractall(tmp_path / "out")
    (annotations,) = (tmp_path / "out").rglob("*.json")
    assert len(read_coco(annotations).images) == 8
    for form in ("yolo", "voc", "labelstudio", "cvat"):
        names = zipfile.ZipFile(io.BytesIO(client.get(f"/export/{form}").content)).namelist()
        assert all(name.startswith(f"{form}/") for name in names)
        assert len(names) >= 2
    assert client.get("/export/passwords").status_code == 400
    assert client.get("/export/coco?max_doubt=much").status_code == 400


def test_the_class_file_has_the_threshold_that_was_chosen(client: TestClient, tmp_path: Path) -> None:
    assert client.post("/threshold", json={"label": "thing", "min_score": 0.7}).status_code == 200
    path = tmp_path / "things.classes"
    path.write_bytes(client.get("/classes").content)
    known = {one.label: one.min_score for one in load_classes(path).classes}
    assert known == {"pen": 0.5, "thing": 0.7}
    assert next(one for one in state(client)["classes"] if one["label"] == "thing")["min_score"] == 0.7


def test_a_new_photo_is_tried_and_not_kept(client: TestClient, studio: Studio) -> None:
    content = io.BytesIO()
    picture(9, q2=RED, q1=GREEN).save(content, "PNG")
    before = sorted(studio.run.folder.rglob("*"))
    seen = client.put("/detect", content=content.getvalue())
    assert seen.status_code == 200
    assert (seen.json()["width"], seen.json()["height"]) == (80, 60)
    assert any(one["box"] in (BOXES[1], BOXES[2]) for one in seen.json()["boxes"])
    for one in seen.json()["boxes"]:
        likeness = [reason["likeness"] for reason in one["like"]]
        assert likeness == sorted(likeness, reverse=True)
        for reason in one["like"]:
            photo = studio.snapshot.photos[reason["photo"]]
            assert reason["box"] in [box["box"] for box in photo["boxes"] if box["label"] == one["label"]]
    best = next(one for one in seen.json()["boxes"] if one["label"] == "thing")
    assert len(best["like"]) == 3
    assert best["like"][0]["likeness"] > 0.9  # its colour is that of the tagged ones
    assert sorted(studio.run.folder.rglob("*")) == before


SOME_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["photo", "label", "kind", "box", "row", "photos", "min_score", "max_doubt", "labels", "point", "x"]
)
VALUES = SOME_JSON | st.sampled_from(
    [
        ZERO,
        "thing",
        "shows",
        "points",
        "shows not",
        "tag",
        "accept",
        [9, 9],
        [0, 0, 40, 30],
        [1e9, 0, 2, 3],
        [0.1] * 4,
        [ZERO],
        -1,
        0.5,
    ]
)
ADDRESSES = st.sampled_from(["/correct", "/find", "/undo", "/redo", "/tags", "/threshold", "/accept"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(address=ADDRESSES, body=st.dictionaries(KEYS, VALUES, max_size=5) | SOME_JSON)
def test_whatever_is_sent_the_answer_is_a_word_and_no_crash(client: TestClient, address: str, body: Any) -> None:
    answer = client.post(address, content=json.dumps(body), headers={"content-type": "application/json"})
    assert answer.status_code in {200, 400}, (answer.status_code, body)
    if answer.status_code == 400:
        assert answer.json()["error"]


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ({"kind": "sings"}, "the kind is 'sings'"),
        ({"kind": "shows"}, "there is no box"),
        ({"kind": "shows", "box": [0, 0, 40]}, "that is no box"),
        ({"kind": "shows", "box": [0, 0, True, 30]}, "that is no box"),
        ({"kind": "shows", "box": [0, 0, 400, 30]}, "is no box in 'thing/0.png'"),
        ({"kind": "shows", "box": [0, 0, 1, 30]}, "too small"),
        ({"kind": "shows", "box": [0, 0, 40, 30], "row": 900}, "region 900"),
        ({"kind": "points"}, "that is no point"),
        ({"kind": "points", "point": [1]}, "that is no point"),
        ({"kind": "points", "point": [1, None]}, "that is no point"),
        ({"kind": "points", "point": [500, 20]}, "nothing else is around that point"),
        ({"kind": "tag", "label": ""}, "the tag is empty"),
        ({"kind": "tag", "label": 7}, "is not a text"),
        ({"kind": "tag", "label": "\ud800"}, "cannot be shown"),
        ({"kind": "tag", "photo": "../../etc/passwd"}, "no id of a photo"),
        ({"kind": "tag", "photo": "0" * 16}, "no such photo"),
        ({"kind": "tag", "file": "x"}, "'file' means nothing"),
        ({"kind": "accept", "label": "unicorn"}, "no 'unicorn' was found"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(
    client: TestClient, studio: Studio, word: dict[str, Any], reason: str
) -> None:
    body = json.dumps({"photo": ZERO, "label": "thing", **word})
    answer = client.post("/correct", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert reason in answer.json()["error"]
    assert studio.run.journal.said() == []


def test_only_json_and_not_too_much_of_it(client: TestClient) -> None:
    assert client.post("/find", content="{}").status_code == 415
    assert client.post("/find", content="{}", headers={"content-type": "text/plain"}).status_code == 415
    headers = {"content-type": "application/json"}
    assert client.post("/find", content="{", headers=headers).status_code == 400
    assert client.post("/find", content="[" * 100_000, headers=headers).status_code == 400
    assert client.post("/find", content=" " * 300_000, headers=headers).status_code == 413
    assert client.post("/find", content=iter([b" " * 150_000] * 2), headers=headers).status_code == 413
    assert client.get("/find").status_code == 405


def test_several_photos_are_tagged_at_once(client: TestClient, studio: Studio) -> None:
    keys = [photo_id(f"thing/{number}.png") for number in range(3)]
    assert client.post("/tags", json={"photos": keys, "label": "green"}).json()["tagged"] == 3
    settle(studio)
    assert entry(client, "thing/1.png")["tags"] == ["green", "thing"]
    assert client.post("/tags", json={"photos": keys, "label": "green"}).json()["tagged"] == 0
    assert Journal(studio.run.journal.path).said()[0].what == Tag("thing/0.png", "green")

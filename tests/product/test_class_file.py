"""Class files: small, mergeable, and never trusted further than they can be read."""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from in_process import run_here
from samples import random_units
from tag2box.errors import ClassFileError, InputError
from tag2box.product.class_file import (
    FORMAT,
    ClassSet,
    KnownClass,
    load_classes,
    merge_classes,
    require_new,
    save_classes,
)

DIMENSION = 256
LIMIT = 6 * 1024
"""Bytes that a class may take."""
PROVENANCE = {"photos": 8, "mean_doubt": 0.125, "learned": "2026-01-01T00:00:00+00:00"}


def known_class(label: str, seed: int = 0) -> KnownClass:
    direction = random_units(np.random.default_rng(seed), 1, DIMENSION)[0].astype(np.float32)
    examples = random_units(np.random.default_rng(seed + 100), 1 + seed % 8, DIMENSION).astype(np.float32)
    return KnownClass(label, direction, examples, 12.5 + seed, 3.25, 0.5, PROVENANCE)


def class_set(*labels: str, fingerprint: str = "extractor-1") -> ClassSet:
    return ClassSet(fingerprint, tuple(known_class(label, seed) for seed, label in enumerate(labels)))


def numbers(known: ClassSet) -> dict[str, list[Any]]:
    """All that is known of each class, to the last bit."""
    return {
        one.label: [
            *(one.direction.tobytes(), one.examples.tobytes(), one.examples.shape),
            *(one.kappa, one.threshold, one.least_likeness, one.min_score, dict(one.provenance)),
        ]
        for one in known.classes
    }


@pytest.mark.parametrize("labels", [(), ("mug",), ("mug", '🦝 über\'s "pen"', "[/b] :dog:")])
def test_what_is_read_is_what_was_written(tmp_path: Path, labels: tuple[str, ...]) -> None:
    known, path = class_set(*labels), tmp_path / "not there yet" / "my.classes"
    save_classes(path, known)
    again = load_classes(path)
    assert again.fingerprint == "extractor-1"
    assert again.labels == labels
    assert numbers(again) == numbers(known)
    assert path.stat().st_size < LIMIT * max(len(labels), 1)
    assert [file.name for file in path.parent.iterdir()] == ["my.classes"]  # nothing temporary stays


def test_many_classes_stay_small(tmp_path: Path) -> None:
    save_classes(tmp_path / "many", class_set(*(f"class {number}" for number in range(200))))
    assert (tmp_path / "many").stat().st_size < 200 * LIMIT
    assert len(load_classes(tmp_path / "many").classes) == 200


def test_merging_and_removing_touch_no_other_class(tmp_path: Path) -> None:
    first, second = class_set("mug", "pen"), ClassSet("extractor-1", (known_class("cup", 7),))
    both = merge_classes([first, second])
    assert both.labels == ("mug", "pen", "cup")
    assert numbers(both) == numbers(first) | numbers(second)
    save_classes(tmp_path / "both", both)
    left = load_classes(tmp_path / "both").without(["pen"])
    assert left.labels == ("mug", "cup")
    assert numbers(left) == {label: all_of for label, all_of in numbers(both).items() if label != "pen"}


def test_what_does_not_belong_together_is_refused() -> None:
    with pytest.raises(ClassFileError, match="'mug' occurs twice"):
        merge_classes([class_set("mug", "pen"), class_set("mug")])
    with pytest.raises(ClassFileError, match=r"extractor-2[\s\S]*expected: classes of extractor-1"):
        merge_classes([class_set("mug"), class_set("pen", fingerprint="extractor-2")])
    with pytest.raises(ClassFileError, match=r"no class 'cup'[\s\S]*expected: one of mug, pen"):
        class_set("mug", "pen").without(["mug", "cup"])
    with pytest.raises(ClassFileError, match=r"the file knows 'pen' already"):
        require_new(["cup", "pen"], class_set("mug", "pen"), "the file")
    require_new(["cup"], class_set("mug", "pen"), "the file")


@pytest.mark.parametrize("label", ["", "  ", "two\nlines", "\x1b[2J", "\ud800", 7, None, {"a": 1}])
def test_a_class_needs_a_name_that_can_be_shown(label: Any) -> None:
    with pytest.raises(ClassFileError, match="is no name of a class"):
        known_class(label)


def test_the_command_line_says_the_same(tmp_path: Path) -> None:
    save_classes(tmp_path / "a", class_set("mug", "pen"))
    save_classes(tmp_path / "b", class_set("cup", fingerprint="extractor-2"))
    listed = run_here("classes", "list", tmp_path / "a")
    assert listed.returncode == 0, listed.stderr
    assert [line.split()[1:9:2] for line in listed.stdout.splitlines() if "2026" in line] == [
        ["mug", "8", "88%", "0.5"],
        ["pen", "8", "88%", "0.5"],
    ]
    merged = run_here("classes", "merge", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "c")
    assert merged.returncode == 2
    assert f"tag2box: {tmp_path / 'b'} was made with the extractor extractor-2." in merged.stderr
    assert run_here("classes", "merge", tmp_path / "a", tmp_path / "a", "-o", tmp_path / "c").returncode == 2
    assert not (tmp_path / "c").exists()
    detected = run_here("detect", tmp_path / "b", tmp_path)
    assert detected.returncode == 2
    assert "b was made with the extractor extractor-2." in detected.stderr


def test_names_are_printed_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a [b] :dog: [x].classes"
    save_classes(path, class_set(":cat:", "[bold]", "pen"))
    listed = run_here("classes", "list", path)
    assert listed.returncode == 0, listed.stderr
    assert ":cat:" in listed.stdout
    assert "[bold]" in listed.stdout
    removed = run_here("classes", "remove", path, "pen")
    assert removed.stdout == f":cat:, [bold] left in {path}.\n"


# From which score on a class counts as found


def test_a_class_counts_as_found_from_another_score_on(tmp_path: Path) -> None:
    """The score moves the threshold by its log odds, and is kept in the file; other classes stay as they are."""
    before = class_set("mug", "pen")
    known = before.found_from("pen", 0.7)
    assert before.thresholds == {"mug": 3.25, "pen": 3.25}
    assert known.thresholds == {"mug": 3.25, "pen": pytest.approx(3.25 + np.log(0.7 / 0.3))}
    save_classes(tmp_path / "file", known)
    again = load_classes(tmp_path / "file")
    assert numbers(again) == numbers(known)
    assert numbers(again)["mug"] == numbers(before)["mug"]
    assert again.thresholds == known.thresholds
    merged = merge_classes([again, class_set("cup")])
    assert [one.min_score for one in merged.classes] == [0.5, 0.7, 0.5]
    assert again.only(["pen"]).thresholds == {"pen": known.thresholds["pen"]}
    assert numbers(again.found_from("pen", 0.5)) == numbers(before)  # as it was learned, not from where it was


def test_examples_are_kept_as_a_store_keeps_features(tmp_path: Path) -> None:
    """Sixteen bits each, before and after a file, so that a class detects the same."""
    rows = random_units(np.random.default_rng(9), 3, DIMENSION).astype(np.float32)
    one = KnownClass("mug", rows[0], rows, 1.0, 2.0, 0.5, PROVENANCE)
    np.testing.assert_array_equal(one.examples, rows.astype(np.float16).astype(np.float32))
    save_classes(tmp_path / "file", ClassSet("extractor-1", (one, known_class("pen"))))
    np.testing.assert_array_equal(load_classes(tmp_path / "file").classes[0].examples, one.examples)
    with pytest.raises(InputError, match="examples of 'mug'"):
        KnownClass("mug", rows[0], rows[:, :7], 1.0, 2.0, 0.5, PROVENANCE)
    with pytest.raises(InputError, match="examples of 'mug'"):
        KnownClass("mug", rows[0], 2 * rows, 1.0, 2.0, 0.5, PROVENANCE)


@pytest.mark.parametrize("score", [0.0, 1.0, -0.1, 1.5, float("nan"), float("inf")])
def test_a_score_that_everything_or_nothing_reaches_is_refused(score: float) -> None:
    with pytest.raises(ClassFileError, match=r"'mug' shall count as found from .*[\s\S]*a score between 0 and 1"):
        class_set("mug", "pen").found_from("mug", score)


def test_a_class_that_is_not_there_has_no_threshold() -> None:
    with pytest.raises(ClassFileError, match=r"no class 'cup'[\s\S]*expected: one of mug, pen"):
        class_set("mug", "pen").found_from("cup", 0.7)


def test_the_command_line_moves_thresholds(tmp_path: Path) -> None:
    save_classes(tmp_path / "a", class_set("mug", "pen"))
    before = (tmp_path / "a").read_bytes()
    moved = run_here("classes", "threshold", tmp_path / "a", "pen", "0.7", "-o", tmp_path / "b")
    assert (moved.returncode, moved.stdout) == (0, f"pen counts as found from 0.7 on in {tmp_path / 'b'}.\n")
    assert (tmp_path / "a").read_bytes() == before
    assert numbers(load_classes(tmp_path / "b")) == numbers(class_set("mug", "pen").found_from("pen", 0.7))
    assert run_here("classes", "threshold", tmp_path / "a", "mug", "0.25").returncode == 0
    assert [one.min_score for one in load_classes(tmp_path / "a").classes] == [0.25, 0.5]
    listed = run_here("classes", "list", tmp_path / "b").stdout
    assert "found from" in listed
    assert [line.split()[7] for line in listed.splitlines() if "2026" in line] == ["0.5", "0.7"]
    kept = (tmp_path / "a").read_bytes()
    for wrong in (("cup", "0.7"), ("mug", "1"), ("mug", "nan")):
        assert run_here("classes", "threshold", tmp_path / "a", *wrong).returncode == 2
    assert (tmp_path / "a").read_bytes() == kept


# Damage


def parts(content: bytes) -> tuple[dict[str, Any], bytes]:
    """Header and numbers of a safetensors file."""
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def joined(header: dict[str, Any], tail: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + tail


ODD_VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1e300, 10**400, float("nan"), float("inf"), "", "x", "\ud800", "../../etc", "a\nb"),
    *([], [[]], {}, {"photos": {}}, [1, 2], "F16", "BF16", "F8_E4M3", "I64", [2], [1, 512], [0, 8]),
)
PICKLE = b"cos\nsystem\n(S'touch hacked'\ntR."


def flipped(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.randint(1, 6)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content))]


def swollen(content: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(content))
    piece = rng.choice([b"\0", b"\xff" * 9, b'"', b"{" * 3000, b"[" * 50, PICKLE, content[: rng.randrange(200)]])
    return content[:at] + piece + content[at:]


def with_odd_header(content: bytes, rng: random.Random) -> bytes:
    header, tail = parts(content)
    place = rng.choice([header, header["__metadata__"], header["directions"], header["examples"]])
    place[rng.choice([*place, "more"])] = rng.choice(ODD_VALUES)
    return joined(header, tail)


def with_odd_facts(content: bytes, rng: random.Random) -> bytes:
    header, tail = parts(content)
    facts = json.loads(header["__metadata__"]["classes"])
    place = rng.choice([*facts, *(fact["provenance"] for fact in facts)])
    if rng.random() < 0.2:
        place.pop(rng.choice([*place]))
    else:
        place[rng.choice([*place, "more"])] = rng.choice(ODD_VALUES)
    written = json.dumps(rng.choice([facts, facts, facts, facts[:1], facts * 2, facts[0]]))
    header["__metadata__"]["classes"] = written
    return joined(header, tail)


def with_odd_length(content: bytes, rng: random.Random) -> bytes:
    length = rng.choice([0, 1, 7, 2**31, 2**40, 2**63, 2**64 - 1, len(content)])
    return struct.pack("<Q", length) + content[8:]


DAMAGES = (flipped, cut, swollen, with_odd_header, with_odd_facts, with_odd_length)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_hundred_damaged_files_give_classes_or_a_message(tmp_path: Path, damage: Any) -> None:
    """Nothing else is raised, and listing what was read works too."""
    save_classes(tmp_path / "sound", class_set("mug", "pen", "cup"))
    sound, path, rng = (tmp_path / "sound").read_bytes(), tmp_path / "damaged", random.Random(damage.__name__)
    refused = 0
    for _ in range(110):
        path.write_bytes(damage(sound, rng))
        known = classes_or_message(path)
        if isinstance(known, ClassSet):
            require_sound(known, path)
        else:
            assert known.startswith(f"{path} cannot be read as classes: ")
            refused += 1
    assert refused
    assert {file.name for file in tmp_path.iterdir()} == {"sound", "damaged"}


def classes_or_message(path: Path) -> ClassSet | str:
    try:
        return load_classes(path)
    except InputError as error:
        return str(error)


def require_sound(known: ClassSet, path: Path) -> None:
    """What was read can be listed, and written and read again."""
    assert len(set(known.labels)) == len(known.classes) <= 6
    assert all(one.label.isprintable() and np.isfinite(one.threshold) for one in known.classes)
    assert run_list(path) == 0
    save_classes(path, known)
    assert numbers(load_classes(path)).keys() == numbers(known).keys()


def run_list(path: Path) -> int:
    return run_here("classes", "list", path).returncode


def test_deep_and_huge_json_is_refused(tmp_path: Path) -> None:
    save_classes(tmp_path / "file", class_set("mug"))
    header, tail = parts((tmp_path / "file").read_bytes())
    deep, huge = "[" * 100_000, json.dumps([json.loads(header["__metadata__"]["classes"])[0] | {"kappa": 10**400}])
    for text in (deep, huge, "", "null", "7", '"mug"'):
        header["__metadata__"]["classes"] = text
        (tmp_path / "file").write_bytes(joined(header, tail))
        with pytest.raises(ClassFileError, match="cannot be read as classes"):
            load_classes(tmp_path / "file")


def test_files_of_another_kind_are_refused_by_name(tmp_path: Path) -> None:
    for name, content in {"empty": b"", "photo": b"\xff\xd8\xff", "pickle": PICKLE, "words": b"hello"}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ClassFileError, match=name):
            load_classes(tmp_path / name)
    save_classes(tmp_path / "old", class_set("mug"))
    content = (tmp_path / "old").read_bytes()
    (tmp_path / "old").write_bytes(content.replace(FORMAT.encode(), b"tag2box-classes-9"))
    with pytest.raises(ClassFileError, match="the format is 'tag2box-classes-9'"):
        load_classes(tmp_path / "old")
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ClassFileError, match="cannot be read as classes"):
            load_classes(place)

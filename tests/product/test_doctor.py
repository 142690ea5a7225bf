"""What the doctor finds."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tag2box.errors import RunError
from tag2box.extract import model_folder
from tag2box.product.doctor.abilities import (
    Attempt,
    attempt,
    model_finding,
    pictures_finding,
    pillow_reads,
    products_finding,
    runtime_finding,
)
from tag2box.product.doctor.findings import Finding, State, finding_of, ok
from tag2box.product.doctor.installation import Requirement, dependencies_finding, package_finding, python_finding
from tag2box.product.doctor.surroundings import (
    GIBIBYTE,
    extra_finding,
    folder_finding,
    machine_finding,
    terminal_finding,
    torch_finding,
    torchvision_finding,
)

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def requirement(line: str) -> Requirement:
    parsed = Requirement.parse(line)
    assert parsed is not None
    return parsed


def answering(worked: bool, said: str) -> Callable[..., Attempt]:
    return lambda *_: Attempt(worked, said)


def test_every_requirement_of_ours_is_understood() -> None:
    lines = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["train"]]
    assert [str(requirement(line)) for line in lines] == lines
    assert str(requirement(f"Python{PROJECT['requires-python']}")) == "Python>=3.11"
    assert requirement('torch==2.13.0; extra == "train"') == Requirement("torch", "==", "2.13.0", "train")
    assert Requirement.parse("tag2box[train]; extra == 'dev'") is None


@pytest.mark.parametrize(
    ("line", "version", "met"),
    [
        ("numpy>=2.0", "2.0.0", True),
        ("numpy>=2.0", "2", True),
        ("numpy>=2.0", "1.26.4", False),
        ("numpy>=2.9", "2.10", True),
        ("numpy>=2.0", "3.0.0rc1", True),
        ("torch==2.13.0", "2.13.0+cpu", True),
        ("torch==2.13.0", "2.13", True),
        ("torch==2.13.0", "2.13.1", False),
        ("rich", "0.1", True),
    ],
)
def test_versions_are_compared_as_numbers(line: str, version: str, met: bool) -> None:
    assert requirement(line).met_by(version) is met


def test_an_old_python_is_a_problem() -> None:
    assert python_finding("3.11.7", requirement("Python>=3.11")) == ok("python", "3.11.7")
    assert python_finding("3.10.14", requirement("Python>=3.11")).state == State.PROBLEM


def test_code_that_is_not_the_installed_package_is_a_problem() -> None:
    here, there = Path("here"), Path("there")
    assert package_finding("0.2.0", here, here) == ok("tag2box", "0.2.0 in here")
    assert package_finding("0.2.0", here, None) == ok("tag2box", "0.2.0 in here")
    assert package_finding("0.2.0", here, there).words == "0.2.0 is installed in there, but here runs."
    assert package_finding(None, here, None).words == "runs from here and is not installed."
    assert package_finding(None, here, None).state == package_finding("0.2.0", here, there).state == State.PROBLEM


def test_dependencies_that_are_missing_or_old_are_named_with_their_cure() -> None:
    wanted = [requirement("numpy>=2.0"), requirement("rich>=13.7"), requirement("typer>=0.15")]
    good = {"numpy": "2.4.6", "rich": "15.0.0", "typer": "0.29.0"}
    assert dependencies_finding(wanted, good) == ok("dependencies", "numpy 2.4.6, rich 15.0.0, typer 0.29.0")
    found = dependencies_finding(wanted, {"numpy": "1.26", "typer": "0.29.0"})
    assert found.words == "numpy 1.26 instead of numpy>=2.0, rich is missing."
    assert found.remedy == "pip install 'numpy>=2.0' 'rich>=13.7'"
    assert found.state == State.PROBLEM


def test_a_runtime_that_does_not_load_is_a_problem() -> None:
    found = runtime_finding(answering(False, "ImportError: libfoo.so"))
    assert (found.state, found.words) == (State.PROBLEM, "does not load: ImportError: libfoo.so")


def test_a_model_that_was_changed_is_a_problem(tmp_path: Path) -> None:
    folder = shutil.copytree(model_folder(None), tmp_path / "model")
    with (folder / "photo.onnx").open("ab") as file:
        file.write(b"!")
    found = model_finding(folder)
    assert found.state == State.PROBLEM
    assert f"{folder / 'photo.onnx'} is not the file that its card describes" in found.words


def test_pictures_of_usual_formats_are_needed_and_others_welcome() -> None:
    assert all(map(pillow_reads, ("JPEG", "PNG", "WEBP")))
    assert not pillow_reads("no such format")
    assert pictures_finding(lambda name: True).state == State.OK
    assert pictures_finding(lambda name: name != "HEIF").words == "JPEG, PNG, WEBP, AVIF; not HEIF."
    assert pictures_finding(lambda name: name != "HEIF").state == State.NOTE
    assert pictures_finding(lambda name: name == "JPEG").words == "Pillow cannot read PNG, WEBP."
    assert pictures_finding(lambda name: name == "JPEG").state == State.PROBLEM


def test_the_compiled_part_is_welcome_and_not_needed() -> None:
    assert products_finding("AVX2") == ok("products", "compiled, for AVX2")
    missing = products_finding(None)
    assert missing.state == State.NOTE
    assert "EM runs in numpy" in missing.words
    assert "compiler" in missing.remedy


def test_the_machine_is_described() -> None:
    assert machine_finding(1, None) == ok("machine", "1 core")
    assert machine_finding(8, 16 * GIBIBYTE) == ok("machine", "8 cores, 16.0 GiB of memory")
    assert machine_finding(1, GIBIBYTE // 2).state == State.NOTE


def test_a_folder_must_exist_take_files_and_should_have_room(tmp_path: Path) -> None:
    assert folder_finding("folder", tmp_path, free=2 * GIBIBYTE) == ok("folder", f"{tmp_path}, 2.0 GiB free")
    assert folder_finding("folder", tmp_path, free=0).state == State.NOTE
    found = folder_finding("folder", tmp_path / "nowhere")
    assert found.state == State.PROBLEM
    assert found.words == f"{tmp_path / 'nowhere'} cannot be written to: No such file or directory."
    assert list(tmp_path.iterdir()) == []


def test_a_terminal_without_unicode_is_noted() -> None:
    assert terminal_finding("UTF8", True) == ok("terminal", "UTF8, a terminal")
    assert terminal_finding("latin-1", False).state == State.NOTE


def test_the_training_extra_is_never_a_problem_when_it_is_absent() -> None:
    wanted = [requirement('torch==2.13.0; extra == "train"')]
    assert extra_finding(wanted, {"torch": "2.13.0+cpu"}) == ok("train", "torch 2.13.0+cpu")
    assert extra_finding(wanted, {}).words == "torch is missing."
    assert extra_finding(wanted, {"torch": "2.9.1"}).words == "torch 2.9.1 instead of torch==2.13.0."
    assert {extra_finding(wanted, {}).state, extra_finding([], {}).state} == {State.NOTE}
    assert torch_finding(None) is None
    assert torchvision_finding(None) is None


def test_torch_builds_are_told_apart() -> None:
    assert torch_finding("2.13.0", answering(True, "2.13.0+cpu cpu")) == ok("torch", "2.13.0+cpu, a CPU build")
    cuda = torch_finding("2.13.0", answering(True, "2.13.0+cu130 cuda"))
    assert cuda is not None
    assert cuda.state == State.NOTE
    broken = torch_finding("2.13.0", answering(False, "ImportError: libc10.so"))
    assert broken is not None
    assert broken.state == State.PROBLEM


def test_operators_of_torchvision_that_do_not_load_are_harmless_and_other_failures_are_not() -> None:
    assert torchvision_finding("0.28.0", answering(True, "0.28.0")) == ok("torchvision", "0.28.0 loads")
    found = torchvision_finding("0.28.0", answering(False, "RuntimeError: operator torchvision::nms does not exist"))
    assert found is not None
    assert (found.state, "tag2box works around it" in found.remedy) == (State.NOTE, True)
    found = torchvision_finding("0.28.0", answering(False, "ImportError: torch"))
    assert found is not None
    assert found.state == State.PROBLEM


def test_code_that_fails_or_dies_elsewhere_does_no_harm_here() -> None:
    assert attempt("import sys; print('one\\n two'); print(sys.argv[1])", "three") == Attempt(True, "three")
    assert attempt("raise ValueError('wrong\\n  indented')") == Attempt(False, "ValueError: wrong")
    assert attempt("import os; os.kill(os.getpid(), 9)") == Attempt(False, "it ended with code -9 and no word")


def test_a_check_that_raises_is_a_finding() -> None:
    def fails() -> Finding:
        raise RunError("It broke.", "a whole one", "mend it.")

    found = finding_of("thing", fails)
    assert found is not None
    assert (found.name, found.state, found.words) == ("thing", State.PROBLEM, "could not be checked: It broke.")

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from autograder.author import check
from autograder.errors import UsageError
from autograder.exercises.catalogue import load_exercises

ASSIGNMENT = "ps1-convolution"


def names(code: str, **more: Any) -> dict[str, Any]:
    """What a notebook's names would be after a cell."""
    made: dict[str, Any] = {"np": np, "torch": torch, **more}
    exec(code, made)
    return made


def right(exercise: str) -> dict[str, Any]:
    return names(load_exercises(ASSIGNMENT)[exercise].right[0].code)


@pytest.fixture(autouse=True)
def _not_while_grading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)


@pytest.mark.parametrize("exercise", ["output_size", "conv2d", "lenet_parameters"])
def test_the_courses_answer_passes_line_by_line(exercise: str, capsys: pytest.CaptureFixture[str]) -> None:
    check(exercise, ASSIGNMENT, right(exercise))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) >= 2
    assert all(line.startswith("passed  ") for line in lines)


def test_a_wrong_answer_is_told_which_checks_fail(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = load_exercises(ASSIGNMENT)["output_size"].misconceptions[0]
    with pytest.raises(AssertionError, match=r"output_size: \d+ of the hidden checks fail"):
        check("output_size", ASSIGNMENT, names(wrong.code))
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("FAILED") and "not the right one" in line for line in lines)
    assert any(line.startswith("passed") for line in lines)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("", "The name output_size is not defined"),
        ("def output_size(*a, **k): raise KeyError(3)", "Your code raised KeyError"),
        ("def output_size(*a, **k): return object()", "an object of another type"),
        ("def output_size(*a, **k): return [[1], [2, 3]]", "should be a number, not a list"),
        (
            "def output_size(*a, **k): return torch.ones(3, requires_grad=True)",
            "should be a number, not an array",
        ),
    ],
)
def test_whatever_an_answer_does_is_said_in_a_line(
    code: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionError, match="hidden checks fail"):
        check("output_size", ASSIGNMENT, names(code))
    assert words in capsys.readouterr().out


def test_the_names_of_the_notebook_are_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    class Shell:
        user_ns = right("output_size")

    monkeypatch.setattr("IPython.get_ipython", Shell)
    check("output_size", ASSIGNMENT)
    monkeypatch.setattr("IPython.get_ipython", lambda: None)
    with pytest.raises(AssertionError):
        check("output_size", ASSIGNMENT)


def test_arguments_are_the_answers_own() -> None:
    """An answer that changes its argument does not spoil the reference's."""
    code = load_exercises(ASSIGNMENT)["cross_correlate"].right[0].code
    made = names(code)
    inner: Callable[..., Any] = made["cross_correlate"]

    def spoiling(image: Any, kernel: Any) -> Any:
        result = np.array(inner(image, kernel))
        image[...] = 0
        return result

    check("cross_correlate", ASSIGNMENT, {**made, "cross_correlate": spoiling})


def test_it_refuses_to_grade(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    with pytest.raises(UsageError, match="use 'deepdrills grade'"):
        check("output_size", ASSIGNMENT, right("output_size"))


def test_it_runs_while_nbgrader_validates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    check("output_size", ASSIGNMENT, right("output_size"))


def test_the_assignment_is_found_by_its_exercise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / ASSIGNMENT
    folder.mkdir()
    monkeypatch.chdir(folder)
    check("output_size", names=right("output_size"))


def test_an_exercise_that_no_suite_knows_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"check\('output'\): no suite"):
        check("output")

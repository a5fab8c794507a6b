from __future__ import annotations

from pathlib import Path

import pytest

from autograder.errors import CourseError
from autograder.exercises.catalogue import FOLDER, load_exercise, load_exercises

GOOD = """
title = "Output size"
asks = ["output_size"]
[[misconception]]
name = "pad_forgotten"
sentence = "The padding is forgotten."
code = "def output_size(n, k, padding=0, stride=1): return (n - k) // stride + 1"
[[right]]
name = "floor"
code = "def output_size(n, k, padding=0, stride=1): return (n + 2 * padding - k) // stride + 1"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "ps9-toy" / "output_size.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_an_exercise_is_read_as_written(tmp_path: Path) -> None:
    exercise = load_exercise(written(tmp_path, GOOD))
    assert (exercise.assignment, exercise.name, exercise.title) == ("ps9-toy", "output_size", "Output size")
    assert exercise.asks == ("output_size",)
    assert [one.name for one in exercise.misconceptions] == ["pad_forgotten"]
    assert exercise.misconceptions[0].sentence == "The padding is forgotten."
    assert [one.name for one in exercise.right] == ["floor"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("title = ", "cannot be read as TOML", id="broken TOML"),
        pytest.param('asks = ["f"]', "'title'", id="no title"),
        pytest.param('title = "T"', "'asks'", id="no asks"),
        pytest.param('title = "T"\nasks = 3', "a list of names", id="asks is a number"),
        pytest.param('title = "T"\nasks = "f"', "a list of names", id="asks is a text"),
        pytest.param('title = ""\nasks = ["f"]', "'title' (a non-empty text is needed)", id="empty title"),
        pytest.param(
            'title = 3\nasks = ["f"]', "'title' (a non-empty text is needed)", id="title is a number"
        ),
        pytest.param(GOOD.replace("sentence", "sentense"), "'sentence'", id="misspelt entry"),
        pytest.param(GOOD + '[[right]]\nname = "other"\n', "'code'", id="right answer without code"),
        pytest.param(
            GOOD.replace('"The padding is forgotten."', "3"), "'sentence'", id="sentence is a number"
        ),
        pytest.param(GOOD.replace("[[right]]", "[right]"), "lacks or spoils", id="a table for a list"),
        pytest.param(
            GOOD.replace('"floor"', '"pad_forgotten"'),
            "two answers called 'pad_forgotten'",
            id="same name twice",
        ),
    ],
)
def test_a_wrong_file_is_named_with_its_fault(tmp_path: Path, text: str, words: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(CourseError) as caught:
        load_exercise(path)
    assert str(path) in str(caught.value)
    assert words in str(caught.value)


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "")
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CourseError, match="cannot be read as TOML"):
        load_exercise(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="nothing\\.toml"):
        load_exercise(tmp_path / "nothing.toml")


def test_an_assignment_without_data_files_has_no_exercises(tmp_path: Path) -> None:
    assert load_exercises("ps9-toy", tmp_path) == {}


def test_exercises_come_by_name(tmp_path: Path) -> None:
    written(tmp_path, GOOD)
    (tmp_path / "ps9-toy" / "notes.txt").write_text("not an exercise")
    assert list(load_exercises("ps9-toy", tmp_path)) == ["output_size"]


@pytest.mark.parametrize(
    "path", sorted(FOLDER.glob("*/*.toml")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_every_data_file_of_the_course_is_sound(path: Path) -> None:
    exercise = load_exercise(path)
    codes = [one.code for one in exercise.misconceptions] + [one.code for one in exercise.right]
    for code in codes:
        compile(code, str(path), "exec")
    for name in exercise.asks:
        assert name.isidentifier()
    for wrong in exercise.misconceptions:
        assert wrong.sentence.rstrip().endswith((".", "?", "!"))

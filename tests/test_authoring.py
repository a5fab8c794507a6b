"""New exercises: the skeletons, and docs/authoring.md followed to the letter in a course of its own."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from rich.console import Console

import autograder
from autograder.authoring import new_exercise
from autograder.batch.course import Course
from autograder.errors import CourseError, UsageError

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
PS1 = "ps1-convolution"
NOTEBOOK = f"source/{PS1}/convolution.ipynb"
#: A file or cell that the page names, then what is to stand in it.
STEP = re.compile(
    r"^(?:`(?P<file>[\w.-]+/[\w./-]+)`|The cell `(?P<cell>\w+)`)(?:(?!```).)*?^```\w+\n(?P<text>.*?)^```$",
    re.M | re.S,
)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A copy of the course's repository: its package, its source, its settings."""
    root = tmp_path / "course"
    ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
    shutil.copytree(ROOT / "autograder", root / "autograder", ignore=ignored)
    shutil.copytree(ROOT / "source" / PS1, root / "source" / PS1, ignore=ignored)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    return root


def run(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
    command = [sys.executable, "-m", "autograder.cli", *words]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


def commands() -> list[list[str]]:
    return [shlex.split(line)[1:] for line in re.findall(r"^\$ (deepdrills .*)$", PAGE, re.MULTILINE)]


def replace_cell(root: Path, grade_id: str, text: str) -> None:
    notebook = nbformat.read(root / NOTEBOOK, as_version=4)
    (cell,) = [one for one in notebook.cells if one.metadata.get("nbgrader", {}).get("grade_id") == grade_id]
    cell.source = text.rstrip("\n")
    nbformat.write(notebook, root / NOTEBOOK)


def test_the_page_followed_to_the_letter(course: Path) -> None:
    new, audit, release = commands()
    assert [words[0] for words in (new, audit, release)] == ["new-exercise", "audit", "release"]
    before = nbformat.read(course / NOTEBOOK, as_version=4)
    made = run(course, *new)
    assert made.returncode == 0, made.stderr
    after = nbformat.read(course / NOTEBOOK, as_version=4)
    added = [cell for cell in after.cells if cell not in before.cells]
    assert [cell.metadata.nbgrader.grade_id for cell in added] == [
        "dilated_size_statement", "dilated_size", "dilated_size_visible", "dilated_size_checks"
    ]  # fmt: skip
    assert [cell for cell in after.cells if cell in before.cells] == before.cells
    assert after.cells[-1].metadata.nbgrader.grade_id == "end"

    skeleton = run(course, *audit)
    assert skeleton.returncode == 1
    assert "write the reference in autograder/reference/dilated_size.py" in skeleton.stdout

    steps = list(STEP.finditer(PAGE))
    assert len(steps) == 6
    for step in steps:
        if step["cell"]:
            replace_cell(course, step["cell"], step["text"])
        else:
            assert (course / step["file"]).is_file(), "a skeleton is there"
            (course / step["file"]).write_text(step["text"], encoding="utf-8")
    audited = run(course, *audit)
    assert audited.returncode == 0, audited.stdout + audited.stderr
    assert re.search(r"dilated_size +│ +3 / 3 +│ +4 / 4 +│ +3 / 3 +│ +0 ", audited.stdout), audited.stdout

    released = run(course, *release)
    assert released.returncode == 0, released.stdout + released.stderr
    text = (course / "release" / PS1 / "convolution.ipynb").read_text(encoding="utf-8")
    assert "def dilated_size(n, k, dilation):" in text
    assert "span = dilation" not in text


def everything(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def write(root: Path, name: str, title: str | None = None) -> int:
    return new_exercise(Course(root), PS1, name, title, 1.0, Console(quiet=True))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("output_size", r"is taken: .*output_size_checks.*output_size.toml"),
        ("half_done", r"is taken: autograder/reference/half_done.py"),
        ("convolution", r"is taken: autograder/reference/convolution.py"),
        ("a-b", r"is called like a Python function"),
        ("class", r"is called like a Python function"),
        ("some_checks", r"name cells of other kinds"),
    ],
)
def test_a_name_that_is_taken_is_refused_and_nothing_is_written(
    course: Path, monkeypatch: pytest.MonkeyPatch, name: str, words: str
) -> None:
    monkeypatch.setattr(autograder, "__file__", str(course / "autograder" / "__init__.py"))
    (course / "autograder" / "reference" / "half_done.py").write_text("x = 1\n")
    before = everything(course)
    with pytest.raises(UsageError, match=words):
        write(course, name)
    assert everything(course) == before


@pytest.mark.parametrize("title", ['a "quoted" one', "two\nlines", "back\\slash", " "])
def test_a_title_that_would_spoil_a_file_is_refused(
    course: Path, monkeypatch: pytest.MonkeyPatch, title: str
) -> None:
    monkeypatch.setattr(autograder, "__file__", str(course / "autograder" / "__init__.py"))
    with pytest.raises(UsageError, match="a title is one line"):
        write(course, "fine_name", title)


def test_a_notebook_that_can_not_be_written_leaves_nothing_behind(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(autograder, "__file__", str(course / "autograder" / "__init__.py"))
    before = everything(course)

    def full(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(CourseError, match="Nothing was written"):
        write(course, "fine_name")
    assert everything(course) == before


def test_a_course_without_the_package_is_refused(course: Path) -> None:
    with pytest.raises(UsageError, match="Write the exercise there"):
        write(course, "fine_name")

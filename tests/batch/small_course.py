"""A course with one exercise of ps1 and no figures: the whole path, in a second a submission."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import nbformat

from autograder.grading.answers import AnswerSheet
from autograder.grading.template import trimmed

REPOSITORY = Path(__file__).parents[2]
ASSIGNMENT = "ps1-convolution"
NOTEBOOK = "convolution"
EXERCISE = "output_size"
WRONG = "def output_size(n, k, padding=0, stride=1):\n    return (n - k) // stride + 1\n"
SETTINGS = "\nc.SandboxLimits.cell_seconds = 20.0\n"


def make_course(root: Path) -> Path:
    """A folder with nbgrader_config.py and a source notebook of the given code and one exercise."""
    kept = {cell.grade_id for cell in trimmed(AnswerSheet(REPOSITORY, ASSIGNMENT).template, EXERCISE).cells}
    path = Path("source") / ASSIGNMENT / f"{NOTEBOOK}.ipynb"
    source = nbformat.read(REPOSITORY / path, as_version=4)
    source.cells = [
        cell for cell in source.cells if cell.metadata.get("nbgrader", {}).get("grade_id") in kept
    ]
    (root / path).parent.mkdir(parents=True)
    nbformat.write(source, root / path)
    settings = (REPOSITORY / "nbgrader_config.py").read_text(encoding="utf-8")
    (root / "nbgrader_config.py").write_text(settings + SETTINGS, encoding="utf-8")
    return root


def hand_in(root: Path, student: str, answer: str | None, before: str = "") -> Path:
    """Put a notebook in submitted/: the course's answer for None, and a cell of the student's before it."""
    sheet = AnswerSheet(root, ASSIGNMENT)
    answers: Mapping[str, str | None] = {} if answer is None else {EXERCISE: answer}
    data = sheet.notebook(answers)
    if before:
        data["cells"].insert(0, {"cell_type": "code", "metadata": {}, "source": before})
    folder = root / "submitted" / student / ASSIGNMENT
    folder.mkdir(parents=True)
    path = folder / f"{NOTEBOOK}.ipynb"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def copy_course(root: Path, target: Path) -> Path:
    shutil.copytree(root, target)
    return target

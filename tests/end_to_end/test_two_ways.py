"""The demo's class, graded by `deepdrills grade` and by an unmodified `nbgrader autograde`: one gradebook."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from autograder import demo
from autograder.batch.course import Course
from autograder.commands import release_assignments

ROOT = Path(__file__).parents[2]
PS1 = demo.PS1


@dataclass
class Graded:
    root: Path
    said: str
    code: int

    def grades(self) -> dict[tuple[str, str], tuple[float | None, float | None, bool, float]]:
        with Gradebook(f"sqlite:///{self.root / 'gradebook.db'}") as gradebook:
            return {
                (submission.student.id, grade.name): (
                    grade.auto_score,
                    grade.manual_score,
                    grade.needs_manual_grade,
                    submission.total_seconds_late,
                )
                for submission in gradebook.assignment_submissions(PS1)
                for notebook in submission.notebooks
                for grade in notebook.grades
            }

    def notebooks(self) -> dict[str, Any]:
        """The graded notebooks, without what depends on the clock."""
        found = {}
        for path in sorted((self.root / "autograded").glob("*/*/*.ipynb")):
            notebook = nbformat.read(path, as_version=4)
            nbformat.validate(notebook)
            notebook.metadata.pop("deepdrills")
            found[path.parent.parent.name] = json.loads(json.dumps(notebook))
        return found


@pytest.fixture
def courses(tmp_path_factory: pytest.TempPathFactory) -> tuple[Graded, Graded]:
    """The same class in two course folders, graded by the two commands at the same time."""
    # Without the interpreter's folder: nbgrader runs `alembic` by name and must find it all the same.
    environment = {**os.environ, "DEEPDRILLS_SECRET": "one for both", "PATH": "/usr/bin:/bin"}
    commands = {
        "ours": [
            sys.executable,
            "-m",
            "autograder.cli",
            "grade",
            PS1,
            "--jobs",
            "1",
            "--json",
            "reports.json",
        ],
        "theirs": [sys.executable, "-m", "nbgrader", "autograde", PS1],
    }
    running = {}
    for name, command in commands.items():
        folder = tmp_path_factory.mktemp(name) / "course"
        demo.prepare(Course(ROOT), folder)
        course = Course(folder)
        assert release_assignments(course, [PS1], Console(quiet=True)) == 0
        demo.submit(course, PS1)
        demo.set_due_date(course, PS1)
        log = (folder / "said.txt").open("w+")
        running[name] = (
            folder,
            log,
            subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log),
        )
    done = {}
    for name, (folder, log, process) in running.items():
        code = process.wait(600)
        log.seek(0)
        done[name] = Graded(folder, log.read(), code)
        log.close()
    return done["ours"], done["theirs"]


def both_end_well(courses: tuple[Graded, Graded]) -> None:
    for course in courses:
        assert course.code == 0, course.said[-3000:]


def the_gradebooks_are_the_same(courses: tuple[Graded, Graded]) -> None:
    ours, theirs = (course.grades() for course in courses)
    assert len(ours) == 12 * 12
    assert ours == theirs


def the_graded_notebooks_are_the_same(courses: tuple[Graded, Graded]) -> None:
    ours, theirs = (course.notebooks() for course in courses)
    assert len(ours) == 12
    for student, notebook in ours.items():
        for mine, other in zip(notebook["cells"], theirs[student]["cells"], strict=True):
            assert mine["source"] == other["source"], student
            if mine["metadata"].get("nbgrader", {}).get("grade"):
                assert mine.get("outputs") == other.get("outputs"), student


def the_scores_are_the_right_ones(courses: tuple[Graded, Graded]) -> None:
    reports = json.loads((courses[0].root / "reports.json").read_text())
    scores = {report["student"]: report["score"] for report in reports}
    outcomes = {
        report["student"]: {one["grade_id"]: one["outcome"] for one in report["exercises"]}
        for report in reports
    }
    for student in ("ada", "bao", "chloe", "lena"):
        assert scores[student] == 18
    assert scores["goran"] == 0
    assert set(outcomes["goran"].values()) == {"not attempted"}
    assert scores["karim"] == 0, "the forger earns nothing"
    assert 0 < scores["daniel"] < 18
    assert 0 < scores["elif"] < 18
    assert outcomes["hana"].pop("output_size_checks") == "crashed"
    assert outcomes["ivan"].pop("output_size_checks") == "timeout"
    assert outcomes["jules"].pop("conv2d_checks") == "out of memory"
    for student in ("hana", "ivan", "jules"):
        assert set(outcomes[student].values()) == {"passed"}, student
        assert scores[student] == 16
    late = {report["student"]: report["late_seconds"] for report in reports}
    assert late.pop("lena") == 26 * 3600
    assert set(late.values()) == {0}


def nbgraders_own_commands_go_on(courses: tuple[Graded, Graded]) -> None:
    root = courses[1].root
    environment = {**os.environ, "PATH": "/usr/bin:/bin"}

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "nbgrader", *command],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    assert run("generate_feedback", PS1).returncode == 0
    assert len(list(root.glob("feedback/*/*/*.html"))) == 12
    assert run("export", "--to", "grades.csv").returncode == 0
    assert (root / "grades.csv").read_text().count("\n") == 13
    untouched = run("validate", f"release/{PS1}/convolution.ipynb")
    assert "VALIDATION FAILED" in untouched.stdout
    solved = run("validate", f"solutions/{PS1}/convolution.ipynb")
    assert "Success" in solved.stdout, solved.stdout + solved.stderr


def test_two_ways_and_one_gradebook(courses: tuple[Graded, Graded]) -> None:
    """One test, so that the two courses are graded once, by whichever process runs it."""
    both_end_well(courses)
    the_gradebooks_are_the_same(courses)
    the_graded_notebooks_are_the_same(courses)
    the_scores_are_the_right_ones(courses)
    nbgraders_own_commands_go_on(courses)

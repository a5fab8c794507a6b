"""The feedback page and the report in a real browser, looked through by axe.

Skipped where there is no Chromium, no node, or no packages `playwright-core` and `axe-core` (install them in
a folder with npm, and name its node_modules in NODE_PATH).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from nbformat import v4

from autograder.batch.course import Options
from autograder.exercises.catalogue import load_exercises
from autograder.nbgrader_bridge.feedback import render
from autograder.nbgrader_bridge.feedback_page import feedback_page
from autograder.report.class_report import class_report
from autograder.report.page import page
from autograder.results import CheckResult, Outcome, Stage

from ..nbgrader_bridge.toy_course import ASSIGNMENT, NOTEBOOK, ToyGrader
from ..report.a_class import ASSIGNMENT as PS1
from ..report.a_class import record, student

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
LOOP = "def f(a):\n" + "".join(
    f"    for i{n} in range({n}, len(a)):\n        a[i{n}] += {n}\n" for n in range(9)
)


def _missing() -> str:
    """Why the pages can not be looked at here; empty when they can."""
    if not _chromium():
        return "no Chromium is installed"
    if not shutil.which("node"):
        return "node is not installed"
    packages = Path(os.environ.get("NODE_PATH", ""))
    absent = [name for name in ("playwright-core", "axe-core") if not (packages / name).is_dir()]
    return f"NODE_PATH has no {' and no '.join(absent)}" if not packages.name or absent else ""


def _chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


pytestmark = pytest.mark.skipif(bool(_missing()), reason=_missing() or "all is there")


def serious(path: Path, text: str) -> list[Any]:
    path.write_text(text, encoding="utf-8")
    command = [
        str(shutil.which("node")),
        str(Path(__file__).with_name("axe.mjs")),
        str(_chromium()),
        str(path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    seen = json.loads(done.stdout)
    assert seen["asked"] == [], "the page loads something"
    return [one for one in seen["found"] if one["impact"] in ("serious", "critical")]


def test_the_feedback_page(tmp_path: Path) -> None:
    raised = v4.new_output("error", ename="ValueError", evalue="no", traceback=["line 1", "line 2"])
    picture = v4.new_output("display_data", data={"image/png": PIXEL})
    extra = [
        v4.new_markdown_cell(
            "# My notes\n\n| a | b |\n|---|---|\n| 1 | $x^2$ |\n\n[a link](https://example.org)"
        ),
        v4.new_code_cell("print('x' * 300)  # a comment\nvalue = 3", outputs=[raised, picture]),
    ]
    toy = ToyGrader(
        points={"ann": {"add_checks": 1.0}}, answers={"ann": "It commutes."}, extra={"ann": extra}
    )
    graded: Any = toy(Path(), "ann", ASSIGNMENT, NOTEBOOK, Path(), Options()).notebook
    for cell in graded.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "add_checks":
            checks = cell.metadata.deepdrills.exercise["checks"]
            checks.append(CheckResult("c", Outcome.FAILED, 0, 1, "Said.", "known", Stage.NAMED).to_json())
            cell.metadata.nbgrader["comment"] = "Say *which* terms."
    names = {"student": "ann", "assignment": ASSIGNMENT, "notebook": NOTEBOOK, "score": 1, "max_score": 6}
    assert serious(tmp_path / "feedback.html", render(feedback_page(graded, names, course="deep"))) == []


def test_the_report(tmp_path: Path) -> None:
    long = "a-student-with-a-rather-long-name@students.example-university.example"
    a_class = record(
        student(
            long,
            0,
            1,
            misconception="ceil",
            repairs=("Mended.",),
            late=60,
            to_mark=True,
            code={"max_pool": LOOP},
        ),
        student("bob", 2, 2, 1, code={"max_pool": LOOP}),
        *(student(f"s{number}", number % 3, number % 2, 0.5) for number in range(8)),
        missing=("zoe",),
    )
    assert serious(tmp_path / "report.html", page(class_report(a_class, load_exercises(PS1)))) == []

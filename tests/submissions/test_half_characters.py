"""Half a character, which no file can hold, in what an experiment of a student's has kept: the row is not lost."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from autograder.batch.course import Course, Options
from autograder.commands import write_feedback_pages
from autograder.grading_run import Watch, grade_assignment

from ..batch import small_course
from ..batch.small_course import ASSIGNMENT, EXERCISE, NOTEBOOK
from ..nbgrader_bridge.test_grade import nbgrader_autograde

HALF = "\ud83d"

OUTPUTS: dict[str, Any] = {
    "text": {"output_type": "stream", "name": "stdout", "text": f"loss {HALF}\n"},
    "lines": {"output_type": "stream", "name": "stdout", "text": ["loss ", HALF, "\ude00\n"]},
    "kind": {
        "output_type": "display_data",
        "data": {f"text/{HALF}": HALF, "text/plain": HALF},
        "metadata": {HALF: HALF},
    },
    "html": {
        "output_type": "display_data",
        "data": {"text/html": f"<b>{HALF}</b>", "text/markdown": HALF},
        "metadata": {},
    },
    "error": {"output_type": "error", "ename": HALF, "evalue": HALF, "traceback": [HALF, "\udfff"]},
    "claim": {
        "output_type": "display_data",
        "data": {
            "application/json": {"claim": f"depth{HALF}", "numbers": {f"a{HALF}": [HALF, 1]}},
            "text/plain": "",
        },
        "metadata": {},
    },
    "claim as text": {
        "output_type": "display_data",
        "data": {
            "application/json": json.dumps({"claim": f"depth{HALF}", "numbers": {f"a{HALF}": [HALF, 1]}}),
            "text/plain": "",
        },
        "metadata": {},
    },
    "unknown": {"output_type": f"holo{HALF}gram", "name": HALF},
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small course, released; its exercise is an experiment, which keeps its submitted outputs."""
    root = small_course.make_course(tmp_path_factory.mktemp("half") / "course")
    path = root / "source" / ASSIGNMENT / f"{NOTEBOOK}.ipynb"
    source = json.loads(path.read_text())
    for cell in source["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == EXERCISE:
            cell["metadata"]["tags"] = ["experiment"]
    path.write_text(json.dumps(source))
    for name, output in OUTPUTS.items():
        notebook = small_course.hand_in(root, name, None)
        data = json.loads(notebook.read_text())
        for cell in data["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == EXERCISE:
                cell["outputs"] = [output]
                cell["metadata"][HALF] = HALF
            cell["id"] = HALF
        data["metadata"][HALF] = {HALF: [HALF]}
        notebook.write_text(json.dumps(data))
    return root


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_every_row_and_every_page_is_there(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPDRILLS_SECRET", "half a secret")
    screen = io.StringIO()
    console = Console(file=screen, width=200)
    reports, code = grade_assignment(Course(course), ASSIGNMENT, [], Options(), 1, False, Watch(console))
    graded = {report.student: report for report in reports}
    assert (code, set(graded)) == (0, set(OUTPUTS)), screen.getvalue()
    assert "not in the gradebook" not in screen.getvalue()
    assert write_feedback_pages(Course(course), ASSIGNMENT, [], console) == 0, screen.getvalue()
    assert {path.parts[-3] for path in course.glob("feedback/*/*/*.html")} == set(OUTPUTS)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        scores = {one.student.id: one.score for one in gradebook.assignment_submissions(ASSIGNMENT)}
    assert scores == {name: report.score for name, report in graded.items()}
    for path in (*course.glob("autograded/*/*/*.ipynb"), *course.glob("feedback/*/*/*.html")):
        assert HALF not in path.read_text(encoding="utf-8")
    for report in graded.values():
        json.dumps(report.to_json(), ensure_ascii=False).encode()
    for path in course.glob("autograded/*/*/*.ipynb"):
        path.unlink()
    nbgrader_autograde(course, "--force", assignment=ASSIGNMENT)
    assert {path.parts[-3] for path in course.glob("autograded/*/*/*.ipynb")} == set(OUTPUTS)

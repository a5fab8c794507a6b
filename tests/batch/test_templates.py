from __future__ import annotations

import json
from pathlib import Path

import pytest

from autograder.batch import templates
from autograder.batch.templates import kept_template
from autograder.errors import CourseError
from autograder.grading.template import load_template

from .small_course import ASSIGNMENT, NOTEBOOK


def test_what_is_kept_is_what_would_be_made(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = load_template(root, ASSIGNMENT)
    assert kept_template(root, ASSIGNMENT, write=True) == made
    monkeypatch.setattr(templates, "load_template", lambda *given: pytest.fail("it was made again"))
    kept = kept_template(root, ASSIGNMENT)
    assert kept == made
    assert kept.digest == made.digest


def test_a_look_keeps_nothing(root: Path) -> None:
    kept_template(root, ASSIGNMENT)
    assert not (root / ".deepdrills").exists()


def test_a_changed_source_is_read_again(root: Path) -> None:
    before = kept_template(root, ASSIGNMENT, write=True)
    path = root / "source" / ASSIGNMENT / f"{NOTEBOOK}.ipynb"
    data = json.loads(path.read_text())
    data["cells"][1]["source"] = "# Another title"
    path.write_text(json.dumps(data))
    assert kept_template(root, ASSIGNMENT).digest != before.digest


@pytest.mark.parametrize("text", ["", "{", "{}", '{"made from": []}', "[]", "null"])
def test_a_spoiled_file_is_made_anew(root: Path, text: str) -> None:
    made = kept_template(root, ASSIGNMENT, write=True)
    (root / ".deepdrills" / "templates" / f"{ASSIGNMENT}.json").write_text(text)
    assert kept_template(root, ASSIGNMENT) == made


def test_an_unknown_assignment_is_refused(root: Path) -> None:
    with pytest.raises(CourseError, match="ps9"):
        kept_template(root, "ps9")

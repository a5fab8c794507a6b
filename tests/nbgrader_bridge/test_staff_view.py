"""The formgrader's page of a submission, with the exporter that its extension makes from our settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from nbconvert.exporters import HTMLExporter
from nbformat import v4
from nbgrader.server_extensions.formgrader import handlers

from autograder.nbgrader_bridge.settings import load_settings
from autograder.nbgrader_bridge.writing import write_grades

from .test_feedback import ATTACKS, Reader, code, shows
from .toy_course import ASSIGNMENT, MARK_SCHEME, NOTEBOOK, ToyGrader, submit

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


def formgrader_page(root: Path, student: str = "ann") -> str:
    submit(root, student)
    assert write_grades(root, ASSIGNMENT, [student]) == []
    config = load_settings(root)
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    names = (
        "assignment_id",
        "notebook_id",
        "submission_id",
        "base_url",
        "student",
        "last_name",
        "first_name",
    )
    resources: dict[str, Any] = dict.fromkeys(names, "x")
    resources.update(index=0, total=1, notebook_path="x", last_name="x")
    path = root / "autograded" / student / ASSIGNMENT / f"{NOTEBOOK}.ipynb"
    html, _ = HTMLExporter(config=config).from_filename(str(path), resources=resources)
    return str(html)


def test_the_formgrader_shows_the_graded_notebook(released: Path, grader: ToyGrader) -> None:
    grader.points = {"ann": {"add_checks": 0.5}}
    html = formgrader_page(released)
    assert '<input class="score tabbable" id="add_checks"' in html
    assert "<caption>add_checks: 0.5 of 2 points</caption>" in html
    assert "✗ not passed" in html
    assert MARK_SCHEME in html
    assert 'id="why_written-comment"' in html


def test_nothing_of_a_students_runs_as_the_teacher(released: Path, grader: ToyGrader) -> None:
    plain = Reader(formgrader_page(released, "bob"))
    attacks = "\n\n".join(ATTACKS)
    grader.answers = {"ann": attacks + "[" * 50_000}
    kinds = (
        "text_html", "text_markdown", "text_latex", "text_plain", "image_svg+xml", "application_javascript",
        "application_vnd.jupyter.widget-view+json",
    )  # fmt: skip
    outputs = [shows(**{kind: attack}) for kind in kinds for attack in ATTACKS]
    grader.extra = {"ann": [v4.new_markdown_cell(attacks), v4.new_raw_cell(attacks), code("1", *outputs)]}
    page = Reader(formgrader_page(released))
    for tag in ("script", "iframe", "object", "embed", "svg", "form", "base", "link", "style"):
        assert page.count(tag) == plain.count(tag), tag
    assert page.handlers() == plain.handlers()
    assert page.count("img") == plain.count("img")
    hrefs = {str(attributes.get("href")).strip().lower() for tag, attributes in page.tags if tag == "a"}
    assert not any(href.startswith(("java", "data", "file", "..", "//")) for href in hrefs)


def test_what_a_student_wrote_can_be_read(released: Path, grader: ToyGrader) -> None:
    grader.answers = {
        "ann": "# Why\n\nIt **commutes**: $a + b$.\n\n```\nx = 1\n\ny = '$\\\\'\n```\n\n> quoted\n"
    }
    html = formgrader_page(released)
    assert "It <strong>commutes</strong>: <math" in html
    assert "x = 1\n\ny = '$\\\\'" in html
    assert "<blockquote>" in html

"""The feedback page: what it says, and that nothing of a student's runs or loads in it."""

from __future__ import annotations

import base64
import os
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode, v4
from nbgrader.api import Gradebook
from nbgrader.apps import GenerateFeedbackApp

from autograder.batch.course import Options
from autograder.nbgrader_bridge.feedback import render
from autograder.nbgrader_bridge.feedback_page import feedback_page
from autograder.nbgrader_bridge.gradebook import write_feedback
from autograder.nbgrader_bridge.writing import write_grades
from autograder.results import CheckResult, Outcome, Stage

from .toy_course import ASSIGNMENT, HIDDEN, MARK_SCHEME, MODEL_ANSWER, NOTEBOOK, ToyGrader, submit

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def code(source: str, *outputs: NotebookNode) -> NotebookNode:
    made: NotebookNode = v4.new_code_cell(source, outputs=list(outputs))
    return made


def shows(**data: Any) -> NotebookNode:
    kinds = {key.replace("_", "/"): value for key, value in data.items()}
    made: NotebookNode = v4.new_output("display_data", data=kinds)
    return made


def page(root: Path, grader: ToyGrader, *extra: NotebookNode, student: str = "ann") -> str:
    grader.extra[student] = list(extra)
    submit(root, student)
    assert write_grades(root, ASSIGNMENT, [student]) == []
    assert write_feedback(root, ASSIGNMENT, [student]) == []
    return feedback_file(root, student).read_text(encoding="utf-8")


def feedback_file(root: Path, student: str) -> Path:
    return root / "feedback" / student / ASSIGNMENT / f"{NOTEBOOK}.html"


class Reader(HTMLParser):
    """Tags and attributes as a browser would find them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def names(self) -> set[str]:
        return {tag for tag, _ in self.tags}

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)

    def handlers(self) -> list[tuple[str, str]]:
        return [(tag, name) for tag, attributes in self.tags for name in attributes if name.startswith("on")]

    def headings(self) -> list[int]:
        return [int(tag[1]) for tag, _ in self.tags if re.fullmatch("h[1-6]", tag)]


def assert_safe(text: str) -> None:
    """No script, no handler, no style of a student's, no resource but pictures in the page itself."""
    reader = Reader(text)
    forbidden = {
        "script",
        "iframe",
        "object",
        "embed",
        "svg",
        "link",
        "form",
        "input",
        "base",
        "video",
        "audio",
    }
    assert not reader.names() & forbidden
    ids = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes in reader.tags:
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            assert name not in ("style", "srcset", "background", "formaction", "xlink:href"), (tag, name)
            if name == "src":
                assert tag == "img"
                assert str(value).startswith(("data:image/png;base64,", "data:image/jpeg;base64,"))
            if name == "href":
                assert re.match(r"#|https?://|mailto:", str(value)), value
    levels = reader.headings()
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_what_the_page_says(released: Path, grader: ToyGrader) -> None:
    grader.points = {"ann": {"add_checks": 0.5, "double_checks": 3.0}}
    grader.answers = {"ann": "Addition **commutes**."}
    text = page(released, grader)
    assert_safe(text)
    assert '<html lang="en">' in text
    assert 'name="viewport"' in text
    assert "<strong>3.5</strong> of 6 points" in text
    assert "◐</span> partly passed" in text
    assert "✓</span> passed" in text
    assert "not marked yet" in text
    assert "– / 1" in text
    assert "Addition <strong>commutes</strong>." in text
    assert "Sums of &lt;b&gt;small&lt;/b&gt; numbers are right." in text
    assert "The cell add_checks was missing; it was put back." in text
    assert "<math" in text
    assert "http" not in re.sub(r"<meta[^>]*>", "", text)


def test_nothing_for_staff_alone(released: Path, grader: ToyGrader) -> None:
    text = page(released, grader)
    for secret in (
        MARK_SCHEME,
        MODEL_ANSWER,
        HIDDEN,
        "BEGIN",
        "autograder",
        "author",
        "total_of_both",
        "seccomp",
    ):
        assert secret not in text


def test_marks_comments_and_penalty(released: Path, grader: ToyGrader) -> None:
    grader.points = {"ann": {"add_checks": 2.0, "double_checks": 3.0}}
    grader.answers = {"ann": "Addition commutes."}
    page(released, grader)
    with Gradebook(f"sqlite:///{released / 'gradebook.db'}") as gradebook:
        grade = gradebook.find_grade("why_written", NOTEBOOK, ASSIGNMENT, "ann")
        grade.manual_score, grade.needs_manual_grade = 0.75, False
        gradebook.find_grade("add_checks", NOTEBOOK, ASSIGNMENT, "ann").manual_score = 1.0
        comment = gradebook.find_comment("why_written", NOTEBOOK, ASSIGNMENT, "ann")
        comment.manual_comment = "Say *which* terms. <script>alert(1)</script>"
        submission = gradebook.find_submission_notebook(NOTEBOOK, ASSIGNMENT, "ann")
        submission.late_submission_penalty = 1.5
        gradebook.db.commit()
    assert write_feedback(released, ASSIGNMENT) == []
    text = feedback_file(released, "ann").read_text(encoding="utf-8")
    assert_safe(text)
    assert "<strong>3.25</strong> of 6 points" in text
    assert "A penalty of 1.5 points" in text
    assert "marked by your teacher" in text
    assert "0.75 / 1" in text
    assert "Your teacher has set the points of this exercise." in text
    assert "Comment from your teacher" in text
    assert "Say <em>which</em> terms." in text


def test_an_unanswered_exercise_says_so_once(released: Path, grader: ToyGrader) -> None:
    grader.outcome = {"ann": Outcome.NOT_ATTEMPTED}
    text = page(released, grader)
    assert text.count("not attempted") == 4  # two exercises, in the summary and in their panels
    assert text.count("Sums of large numbers are right.") == 2
    assert '<li class="check"' not in text


def test_an_error_says_first_what_and_then_where(released: Path, grader: ToyGrader) -> None:
    raised = v4.new_output(
        "error", ename="AssertionError", evalue="yours gives 3", traceback=["line 1", "line 2"]
    )
    text = page(released, grader, code("assert False", raised))
    what, fold, where = (
        text.index(one) for one in ("AssertionError: yours", "Where it was raised", "line 1\nline 2")
    )
    assert what < fold < where


def test_no_answer_is_no_comment_of_a_teacher(released: Path, grader: ToyGrader) -> None:
    text = page(released, grader)
    assert "no answer" in text
    assert "No response." not in text
    assert "Comment from your teacher" not in text


def test_outputs_of_every_kind(released: Path, grader: ToyGrader) -> None:
    text = page(
        released,
        grader,
        code(
            "print('x')",
            v4.new_output("stream", name="stdout", text="\x1b[31mred\x1b[0m <b>\x00plain\rgone"),
            v4.new_output("stream", name="stderr", text="a warning"),
            v4.new_output(
                "error", ename="ValueError", evalue="no", traceback=["\x1b[0;31mValueError\x1b[0m: no"]
            ),
            shows(image_png=PIXEL, text_plain="<Figure>"),
            shows(image_jpeg=PIXEL),
            shows(image_png="<script>"),
            shows(**{"image_svg+xml": "<svg onload='alert(1)'/>", "text_plain": "a drawing"}),
            shows(text_html="<table><tr><td style='x' onclick='y'>1</td></tr></table><style>b{}</style>"),
            shows(text_latex="$x^2$"),
            shows(application_javascript="alert(1)"),
        ),
    )
    assert_safe(text)
    assert "gone" in text
    assert "\x1b" not in text
    assert "\x00" not in text
    assert "a warning" in text
    assert "ValueError: no" in text
    assert text.count("<img ") == 1
    assert 'alt="Figure 1, drawn by this cell"' in text
    assert "a drawing" in text
    assert "<td>1</td>" in text
    assert "alert(1)" not in text


ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<img src='https://example.org/a.png'>",
    "![x](https://example.org/a.png) ![y](../../gradebook.db) ![z](attachment:a.png)",
    "[x](javascript:alert(1)) [y](data:text/html,x) [z](file:///etc/passwd) [w](../../hub/logout)",
    "[x](&#106;avascript:alert(1)) <a href='java\tscript:alert(1)'>a</a> <a href='//example.org'>b</a>",
    "<svg><script>alert(1)</script></svg><math><mtext></mtext><script>1</script></math>",
    "<iframe src='https://example.org'></iframe><object data='x'></object><embed src='x'>",
    "<div style='position:fixed' id='score' class='panel'>x</div>",
    "<form action='https://example.org'><input name='x'></form><base href='https://example.org'>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "$\\href{javascript:alert(1)}{x}$ $\\style{color:red}{x}$ $\\text{<script>alert(1)</script>}$",
    '<a title="$x$" href="https://example.org/$x$">$x$</a> <td colspan="$x$">',
    "\ue0000\ue001 $a$ \ue0009\ue001",
    "</div></section></main></body></html><h1>Full marks</h1>",
    "<!-- <b> --><![CDATA[x]]><?php x ?>",
    "###### six\n\n# one\n\n<h5>five</h5>\n\n<h2>unclosed",
    "{{ page.score }} {% raw %}",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_of_a_students_runs(attack: str) -> None:
    shown = [shows(**{kind: attack}) for kind in ("text_html", "text_markdown", "text_latex", "text_plain")]
    cells = [v4.new_markdown_cell(attack), v4.new_raw_cell(attack), code(attack, *shown)]
    grader = ToyGrader(answers={attack: attack}, extra={attack: cells})
    graded: Any = grader(Path(), attack, ASSIGNMENT, NOTEBOOK, Path(), Options()).notebook
    graded.metadata.deepdrills.report["repairs"] = [attack]
    names = {"student": attack, "assignment": ASSIGNMENT, "notebook": attack, "score": 1, "max_score": 6}
    text = render(feedback_page(graded, names, course=attack))
    assert_safe(text)
    assert text.count("</main>") == 1


def test_generate_feedback_of_nbgrader_gives_the_same_page(released: Path, grader: ToyGrader) -> None:
    ours = page(released, grader)
    before = os.getcwd()
    os.chdir(released)
    GenerateFeedbackApp.clear_instance()
    try:
        app = GenerateFeedbackApp.instance()
        app.initialize([ASSIGNMENT, "--force"])
        app.start()
    finally:
        GenerateFeedbackApp.clear_instance()
        os.chdir(before)
    assert feedback_file(released, "ann").read_text(encoding="utf-8") == ours


def test_feedback_for_who_was_not_graded(released: Path, grader: ToyGrader) -> None:
    page(released, grader)
    assert [student for student, _ in write_feedback(released, ASSIGNMENT, ["ann", "zoe"])] == ["zoe"]


def test_the_pixel_is_a_picture() -> None:
    assert base64.b64decode(PIXEL).startswith(b"\x89PNG")


def checked(check: CheckResult) -> str:
    """A page on which the exercise `add` has this one check."""
    graded: Any = ToyGrader()(Path(), "ann", ASSIGNMENT, NOTEBOOK, Path(), Options()).notebook
    for cell in graded.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "add_checks":
            cell.metadata.deepdrills.exercise["checks"] = [check.to_json()]
    names = {"student": "ann", "assignment": ASSIGNMENT, "notebook": NOTEBOOK, "score": 1, "max_score": 6}
    return render(feedback_page(graded, names))


def test_a_failed_check_says_its_stage() -> None:
    text = checked(CheckResult("a", Outcome.FAILED, 0, 2, "Sums.", stage=Stage.SHAPE))
    assert re.search(r'not passed: <span class="stage">wrong shape</span>', text)


def test_a_named_misconception_points_to_its_place() -> None:
    text = checked(CheckResult("a", Outcome.FAILED, 0, 2, "The sum is halved.", "halved", stage=Stage.NAMED))
    assert_safe(text)
    assert 'id="cell-add_statement"' in text
    assert 'The sum is halved. <a href="#cell-add_statement">Read “Add” again</a>.' in text


def test_a_check_that_raised_points_to_the_answer() -> None:
    text = checked(CheckResult("a", Outcome.FAILED, 0, 2, "Your code raised.", stage=Stage.RAISES))
    assert '<a href="#cell-add">See your answer' in text
    assert 'id="cell-add"' in text

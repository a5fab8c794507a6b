"""What a student's feedback page says, from an autograded notebook: pure, and nothing for TAs alone.

Every text of the student's goes through `rich_text` or `code_html`, or is escaped by the template.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from nbformat import NotebookNode

from autograder.grading.outputs import STAGES, SYMBOLS, WORDS, points_text
from autograder.grading.release_cells import is_author_cell
from autograder.nbgrader_bridge.code_html import code_html
from autograder.nbgrader_bridge.feedback_guide import Guide, Pointer
from autograder.nbgrader_bridge.page_outputs import Figures, shown_outputs
from autograder.nbgrader_bridge.rich_text import PageFlow, markdown_html
from autograder.nbgrader_bridge.solutions import without_hidden
from autograder.results import CheckResult, Outcome

MARKING_SCHEME = "marking-scheme"
TEXT_STUB = "YOUR ANSWER HERE"

_WHERE = "What you handed in is graded whole, and your own notebook has it."
_FULL = Markup(f'<p class="note">(This page is full, so this cell is not shown. {_WHERE})</p>')


@dataclass(frozen=True)
class CheckRow:
    """One line of an exercise's panel."""

    name: str
    symbol: str
    word: str
    points: str
    message: str
    stage: str = ""
    pointer: Pointer | None = None


@dataclass(frozen=True)
class Panel:
    """One graded exercise: its line in the summary, and its panel in the work."""

    anchor: str
    title: str
    points: str
    symbol: str
    word: str
    notes: tuple[str, ...] = ()
    checks: tuple[CheckRow, ...] = ()
    level: int = 3


@dataclass(frozen=True)
class Block:
    """One cell of the work. `fold` says what is behind a fold: code that the course gave."""

    anchor: str = ""
    label: str = ""
    fold: bool = False
    body: Markup | None = None
    outputs: tuple[Markup, ...] = ()
    comment: Markup | None = None
    panel: Panel | None = None


@dataclass(frozen=True)
class Page:
    """The whole page, without its looks."""

    course: str
    assignment: str
    notebook: str
    student: str
    score: str
    max_score: str
    late_penalty: str
    repairs: tuple[str, ...]
    panels: tuple[Panel, ...]
    blocks: tuple[Block, ...]


def feedback_page(notebook: NotebookNode, names: Mapping[str, Any], course: str = "") -> Page:
    """The page of an autograded notebook whose cells hold the gradebook's marks.

    `names` is nbgrader's own record of a conversion: student, assignment, notebook, score,
    max_score and late_penalty.
    """
    guide = Guide(str(names["assignment"]), notebook)
    flow = PageFlow()
    blocks = _blocks(notebook, guide, flow)
    report = notebook.metadata.get("deepdrills", {}).get("report", {})
    penalty = float(names.get("late_penalty") or 0.0)
    return Page(
        course=course,
        assignment=str(names["assignment"]),
        notebook=str(names["notebook"]),
        student=str(names["student"]),
        score=points_text(float(names["score"])),
        max_score=points_text(float(names["max_score"])),
        late_penalty=points_text(penalty) if penalty > 0 else "",
        repairs=tuple(str(one) for one in report.get("repairs", ())),
        panels=tuple(block.panel for block in blocks if block.panel),
        blocks=blocks,
    )


def _blocks(notebook: NotebookNode, guide: Guide, flow: PageFlow) -> tuple[Block, ...]:
    """The cells of the page. Once a cell has not fitted, the student's own ones are counted, not shown."""
    figures = Figures()
    blocks: list[Block] = []
    left_out = 0
    for cell in notebook.cells:
        if _is_for_staff(cell):
            continue
        own = not cell.metadata.get("nbgrader", {}).get("grade_id")
        if own and left_out:
            left_out += 1
            continue
        block = _block(cell, guide, flow, figures)
        if block.body == _FULL and own:
            left_out = 1
        else:
            blocks.append(block)
    if left_out:
        said = "1 cell of your own is" if left_out == 1 else f"{left_out} cells of your own are"
        note = f'<p class="note">(This page is full: {said} not shown. {_WHERE})</p>'
        blocks.append(Block(body=Markup(note)))
    return tuple(blocks)


def _is_for_staff(cell: NotebookNode) -> bool:
    return is_author_cell(cell) or cell.metadata.get("deepdrills", {}).get("role") == MARKING_SCHEME


def _block(cell: NotebookNode, guide: Guide, flow: PageFlow, figures: Figures) -> Block:
    about = cell.metadata.get("nbgrader", {})
    grade_id = str(about.get("grade_id") or "")
    graded, answer = about.get("grade", False), about.get("solution", False)
    comment = about.get("comment")
    said = Markup(markdown_html(str(comment), flow, given=True)) if comment else None
    if graded and not answer:
        return Block(panel=_checked(cell, guide, flow), comment=said)
    given = bool(about.get("grade_id")) and not answer
    text = without_hidden(cell.source) if given else cell.source
    label = "" if given else "Your answer" if answer else "Your own cell"
    panel = _marked(cell, guide, flow) if graded else None
    anchor = guide.anchor(grade_id)
    if cell.cell_type == "markdown":
        body = _shown(markdown_html(text, flow, given), flow, given)
        return Block(anchor=anchor, label=label, body=body, comment=said, panel=panel)
    title = guide.title(grade_id)
    return Block(
        anchor=anchor,
        label=label or "Given code",
        fold=given and cell.cell_type == "code",
        body=_code(text, flow, given),
        outputs=tuple(Markup(one) for one in shown_outputs(cell, title, flow, figures)),
        comment=said,
        panel=panel,
    )


def _code(source: str, flow: PageFlow, given: bool) -> Markup:
    """Code, with colours while there is room for them."""
    if given:
        return Markup(code_html(source))
    if flow.colours_fit(source):
        coloured = code_html(source)
        if flow.fits(coloured):
            return Markup(coloured)
    return _shown(code_html(source, coloured=False), flow, given)


def _shown(html: str, flow: PageFlow, given: bool) -> Markup:
    return Markup(html) if given or flow.fits(html) else _FULL


def _checked(cell: NotebookNode, guide: Guide, flow: PageFlow) -> Panel:
    """The panel of a cell that the course's checks graded."""
    exercise = cell.metadata.get("deepdrills", {}).get("exercise", {})
    name = str(cell.metadata.nbgrader.grade_id).removesuffix("_checks")
    checks = _rows([CheckResult.from_json(check) for check in exercise.get("checks", ())], name, guide)
    notes: tuple[str, ...] = ()
    if checks and {check.word for check in checks} == {WORDS[Outcome.NOT_ATTEMPTED]}:
        # The same sentence for each check says nothing more than once.
        notes, checks = tuple(dict.fromkeys(check.message for check in checks)), ()
    symbol, word = "", "graded"
    if exercise:
        outcome = Outcome(exercise["outcome"])
        symbol, word = SYMBOLS[outcome], WORDS[outcome]
        if outcome is Outcome.FAILED and exercise["points"] > 0:
            symbol, word = "◐", "partly passed"
    return _panel(cell, guide, flow, symbol, word, said=notes, checks=checks)


def _rows(results: list[CheckResult], exercise: str, guide: Guide) -> tuple[CheckRow, ...]:
    rows = []
    shown: set[Pointer | None] = set()  # a link says nothing more the second time
    for check in results:
        pointer = guide.pointer(check, exercise)
        rows.append(
            CheckRow(
                name=check.name,
                symbol=SYMBOLS[check.outcome],
                word=WORDS[check.outcome],
                points=f"{points_text(check.points)} / {points_text(check.max_points)}",
                message=check.message,
                stage=STAGES.get(check.stage, "") if check.stage else "",
                pointer=None if pointer in shown else pointer,
            )
        )
        shown.add(pointer)
    return tuple(rows)


def _marked(cell: NotebookNode, guide: Guide, flow: PageFlow) -> Panel:
    """The panel of an answer that a person marks."""
    if cell.source.strip() in ("", TEXT_STUB):
        return _panel(cell, guide, flow, SYMBOLS[Outcome.NOT_ATTEMPTED], "no answer")
    if cell.metadata.nbgrader.get("unmarked", False):
        return _panel(cell, guide, flow, "…", "not marked yet")
    return _panel(cell, guide, flow, "✎", "marked by your teacher")


def _panel(
    cell: NotebookNode,
    guide: Guide,
    flow: PageFlow,
    symbol: str,
    word: str,
    *,
    said: tuple[str, ...] = (),
    checks: tuple[CheckRow, ...] = (),
) -> Panel:
    about = cell.metadata.nbgrader
    most = points_text(float(about["points"]))
    unmarked = about.get("unmarked", False)
    notes = list(said)
    if about.get("marked_by_hand") and not about["solution"]:
        notes.append("Your teacher has set the points of this exercise.")
    if about.get("marked_by_hand") and about.get("to_review"):
        notes.append("Your work was graded again since, so your teacher may look at these points once more.")
    if about.get("extra_credit"):
        notes.append(f"Extra credit: {points_text(float(about['extra_credit']))}, counted in the points.")
    return Panel(
        anchor=f"exercise-{about['grade_id']}",
        title=guide.title(about["grade_id"]),
        points=f"– / {most}" if unmarked else f"{points_text(float(about.get('score') or 0.0))} / {most}",
        symbol=symbol,
        word=word,
        notes=tuple(notes),
        checks=checks,
        level=flow.heading(3),
    )

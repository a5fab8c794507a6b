"""Pictures of answers that passed are the solutions'; those of other answers are drawn from these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.grading import figures
from autograder.grading.cell_run import CellRun
from autograder.grading.execution import Execution
from autograder.grading.figures import is_read_elsewhere, names_of, used_exercises
from autograder.grading.submission import Submission, rebuild
from autograder.grading.template import Role, Template, TemplateCell, load_template
from autograder.sandbox.limits import Limits
from autograder.sandbox.student import StudentCrashed, StudentFailure

from .fakes import FakeSandbox
from .toy import ANSWERS, TEMPLATE, extra, notebook, place, raw

REPOSITORY = Path(__file__).parents[2]
DRAWN = [{"output_type": "stream", "name": "stdout", "text": "as the solutions have it"}]
SUM = "# the sum\nshown = add(1, 1)"
PAIR = "# the pair\npicture(first)"
PLAIN = "# no answer\nprint('a plain picture')"


def figure(grade_id: str, source: str) -> TemplateCell:
    about = {"grade_id": grade_id, "grade": False, "solution": False, "locked": True, "schema_version": 3}
    node = {
        "id": grade_id,
        "cell_type": "code",
        "metadata": {"nbgrader": about},
        "source": source,
        "outputs": [],
    }
    return TemplateCell(grade_id, Role.LOCKED, "code", source, 0.0, node, illustration=True)


def with_figures(**sources: str) -> Template:
    cells = tuple(figure(name, source) for name, source in sources.items())
    return replace(TEMPLATE, cells=(*TEMPLATE.cells, *cells), drawn={name: list(DRAWN) for name in sources})


HELPER = "def picture(x):\n    return add(x, x)"
COURSE = with_figures(helper=HELPER, sum_figure=SUM, pair_figure=PAIR, plain_figure=PLAIN)


def submission(*extras: str, template: Template = COURSE) -> Submission:
    data = notebook(ANSWERS)
    data["cells"] += [template.cells[n].node for n in range(len(TEMPLATE.cells), len(template.cells))]
    where = place(data, "add_visible")
    data["cells"][where:where] = [extra(source) for source in extras]
    return rebuild(raw(data), template)


def run(
    passed: set[str], *extras: str, cells: Callable[[str], StudentFailure | None] = lambda source: None
) -> tuple[dict[str, CellRun], FakeSandbox]:
    """The pictures' runs by grade_id, once every check has been judged."""
    sandbox = FakeSandbox(cells=cells)
    of = submission(*extras)
    drawn = {name: outputs for name, outputs in COURSE.drawn.items() if name != "helper"}
    execution = Execution(of, sandbox.as_sandbox(), Limits(), drawn, used_exercises(COURSE))
    execution.run()
    execution.draw(passed)
    found = {
        cell.template.grade_id: ran
        for cell, ran in zip(of.cells, execution.runs, strict=True)
        if cell.template is not None and cell.template.grade_id in drawn
    }
    execution.close()
    return found, sandbox


def texts(ran: CellRun) -> list[Any]:
    return [one["text"] for one in ran.outputs]


def test_what_a_picture_shows_is_found_through_the_functions_of_the_course() -> None:
    assert used_exercises(COURSE) == {
        "helper": {"add"}, "sum_figure": {"add"}, "pair_figure": {"add", "pair"}, "plain_figure": frozenset()
    }  # fmt: skip


def test_a_cell_that_is_no_plain_python_may_show_anything() -> None:
    template = with_figures(magic="%matplotlib inline\nadd(1, 2)", hidden="globals()['a' + 'dd'](1, 2)")
    assert used_exercises(template) == {"magic": {"add", "pair"}, "hidden": {"add", "pair"}}


def test_pictures_of_answers_that_passed_are_not_drawn() -> None:
    found, sandbox = run({"add", "pair"})
    assert all(ran.outputs == DRAWN for ran in found.values())
    assert not {SUM, PAIR, PLAIN} & set(sandbox.ran[0])


def test_a_picture_of_an_answer_that_did_not_pass_is_drawn_from_it() -> None:
    found, sandbox = run({"add"})
    assert texts(found["sum_figure"]) == texts(found["plain_figure"]) == ["as the solutions have it"]
    assert texts(found["pair_figure"]) == ["ran # the pair"]
    assert found["pair_figure"].failure is None, "the course's helper was there"
    assert not {SUM, PAIR} & set(sandbox.ran[0]), "the process of the questions draws nothing"
    assert PAIR in sandbox.ran[1], "another one does"


def test_a_picture_of_an_answer_that_is_known_to_fail_is_drawn_before_the_questions() -> None:
    sandbox = FakeSandbox()
    of = submission()
    drawn = dict.fromkeys(("sum_figure", "pair_figure"), DRAWN)
    execution = Execution(of, sandbox.as_sandbox(), Limits(), drawn, used_exercises(COURSE))
    execution.run()
    execution.expect({"pair"})
    assert PAIR in sandbox.ran[0]
    assert SUM not in sandbox.ran[0]
    execution.draw({"add"})
    assert len(sandbox.sessions) == 1


def test_it_is_drawn_among_the_names_of_its_place() -> None:
    later = "first = None\nadd = None"
    template = replace(COURSE, cells=(*COURSE.cells, figure("later", later)))
    sandbox = FakeSandbox()
    of = submission(template=template)
    execution = Execution(of, sandbox.as_sandbox(), Limits(), {"pair_figure": DRAWN}, used_exercises(COURSE))
    execution.run()
    execution.draw(set())
    (index,) = (n for n, cell in enumerate(of.cells) if cell.source == PAIR)
    assert later in sandbox.ran[0]
    assert texts(execution.runs[index]) == ["ran # the pair"]
    assert execution.runs[index].failure is None


def test_a_picture_that_ends_the_process_takes_nothing_with_it() -> None:
    def deadly(source: str) -> StudentFailure | None:
        return StudentCrashed("It ended.") if source == SUM else None

    found, sandbox = run(set(), cells=deadly)
    assert str(found["sum_figure"].failure) == "It ended."
    assert texts(found["pair_figure"]) == ["ran # the pair"]
    assert len(sandbox.sessions) == 3, "of the questions, of the one picture, of the other"


@pytest.mark.parametrize(
    "own", ["print(shown)", "def late():\n    return shown + 1", "eval('sho' + 'wn')", "%who", "x = ("]
)
def test_where_a_student_reads_its_names_it_runs_in_its_place(own: str) -> None:
    """As in the student's own notebook, where the cell has bound them."""
    found, sandbox = run({"add", "pair"}, own)
    assert SUM in sandbox.ran[0]
    assert texts(found["sum_figure"]) == ["ran # the sum"]
    assert is_read_elsewhere(SUM, [own])


def test_a_parameter_of_that_name_is_another_name() -> None:
    assert not is_read_elsewhere(SUM, ["def f(shown):\n    return [shown for _ in range(2)]", "other = 1"])
    assert is_read_elsewhere("import math as m", ["print(m)"])
    found = names_of("def f(x):\n    global made\n    made = x + y\nz: int = f(1)")
    assert found is not None
    assert found.reads & {"x", "y", "f"} == {"y", "f"}
    assert found.binds == {"f", "made", "z"}


def test_what_is_too_long_to_be_looked_through_may_read_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many functions beside many names take Python's compiler minutes: such a cell is not given to it."""
    cell = "def f():\n " + ";".join(f"a{n}=1" for n in range(30_000)) + "\n (" + "lambda:0," * 30_000 + ")"
    assert names_of(cell) is None
    assert is_read_elsewhere(SUM, [cell])
    monkeypatch.setattr(figures, "names_of", _refuse)
    assert is_read_elsewhere(SUM, ["x = 1\n" * 3_000] * 12), "together they are too much"


def _refuse(source: str) -> None:
    raise AssertionError("a student's text was parsed")


def test_many_small_cells_are_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def noting(source: str) -> figures.Names | None:
        seen.append(source)
        return names_of(source)

    monkeypatch.setattr(figures, "names_of", noting)
    cells = [f"once = {number}" for number in range(2_000)]
    assert not is_read_elsewhere(SUM, cells)
    assert not is_read_elsewhere("# the pair\npicture(first)", cells)
    assert len(seen) == len(cells) + 2


@pytest.mark.parametrize(
    "assignment", sorted(path.name for path in (REPOSITORY / "source").iterdir() if path.is_dir())
)
def test_each_picture_of_the_course_shows_the_answers_that_it_names(assignment: str) -> None:
    """The first line of such a cell says whose answers it uses: `This figure uses your ...`."""
    template = load_template(REPOSITORY, assignment)
    used = used_exercises(template)
    for cell in template.cells:
        if cell.role is Role.LOCKED and cell.source.startswith("# This figure uses your"):
            assert cell.illustration, f"{cell.grade_id} has no tag 'illustration'"
            assert cell.grade_id in template.drawn, f"solutions/ has not drawn {cell.grade_id}"
            first, _, rest = cell.source.partition("\n")
            said = {name for name in template.asks if any(f"`{one}`" in first for one in template.asks[name])}
            assert used[cell.grade_id] >= said, cell.grade_id
            assert used[cell.grade_id], cell.grade_id
            assert "try:" in rest, "an answer that is not there yet is no error"

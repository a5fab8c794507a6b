"""What an audit tries, and what it calls a miss."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from autograder.batch.audit import SOLUTION, Answer, Verdict, plan_audit
from autograder.batch.course import Course
from autograder.cli import app
from autograder.errors import CourseError
from autograder.report.audit_table import audit_table
from autograder.results import Outcome

ROOT = Path(__file__).parents[2]
PS1 = "ps1-convolution"
WRONG = Answer(PS1, "output_size", "ceil", "", right=False)
UNNAMED = Answer(PS1, "output_size", "ceil", "", right=False, unnamed="equal to another on all inputs")
RIGHT = Answer(PS1, "output_size", "floor", "", right=True)
FAILED, PASSED = Outcome.FAILED, Outcome.PASSED

MISSES: dict[str, tuple[Verdict, str]] = {
    "wrong_accepted": (Verdict(WRONG, True, PASSED, ()), "a wrong answer was accepted"),
    "right_refused": (Verdict(RIGHT, False, FAILED, ()), "a right answer was refused"),
    "misnamed": (Verdict(WRONG, False, FAILED, ("round_half",)), "it was called round_half"),
    "not_named": (Verdict(WRONG, False, FAILED, ()), "refused but not named"),
    "named_against_the_catalogue": (Verdict(UNNAMED, False, FAILED, ("ceil",)), "it was named, although"),
    "our_error": (Verdict(RIGHT, False, Outcome.ERROR, (), ("no reference",)), "the suite failed (no ref"),
    "error_after_an_answer": (Verdict(WRONG, False, Outcome.CRASHED, (), ("boom",)), "the suite failed (b"),
}


@pytest.mark.parametrize("name", MISSES)
def test_a_miss_says_what_it_is(name: str) -> None:
    verdict, words = MISSES[name]
    (miss,) = verdict.misses
    assert miss.startswith(f"{PS1}/output_size: ")
    assert words in miss


@pytest.mark.parametrize(
    "verdict",
    [
        Verdict(WRONG, False, FAILED, ("ceil",)),
        Verdict(UNNAMED, False, FAILED, ()),
        Verdict(RIGHT, True, PASSED, ()),
    ],
)
def test_what_is_no_miss(verdict: Verdict) -> None:
    assert verdict.misses == []
    assert json.loads(json.dumps(verdict.to_json()))["misses"] == []


def test_the_plan_holds_every_answer_and_the_solution() -> None:
    plan = plan_audit(Course(ROOT), PS1, "output_size")
    assert plan.gaps == ()
    assert {one.exercise for one in plan.answers} == {"output_size"}
    assert next(one.name for one in plan.answers if one.right) == SOLUTION
    assert sum(not one.right for one in plan.answers) == 20
    assert len(plan_audit(Course(ROOT), PS1).answers) > 5 * len(plan.answers)


def test_an_unknown_exercise_is_refused_with_the_known_ones() -> None:
    with pytest.raises(CourseError, match=r"There are: .*output_size"):
        plan_audit(Course(ROOT), PS1, "no_such")


def test_the_table_counts_by_exercise() -> None:
    screen = Console(file=StringIO(), width=100)
    screen.print(audit_table([verdict for verdict, _ in MISSES.values()], PS1))
    assert isinstance(screen.file, StringIO)
    row = next(line for line in screen.file.getvalue().splitlines() if "output_size" in line)
    assert [part.strip() for part in row.split("│")[2:-1]] == ["4 / 5", "0 / 2", "1 / 5", "1"]


def test_the_command_ends_with_zero_on_one_exercise(tmp_path: Path) -> None:
    file = tmp_path / "audit.json"
    command = ["audit", PS1, "-e", "same_padding", "--jobs", "1", "--course", str(ROOT), "--json", str(file)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert json.loads(file.read_text())["misses"] == []

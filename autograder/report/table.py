"""The terminal's tables: scores of a class, checks of one submission, the state of a machine."""

from __future__ import annotations

from collections.abc import Iterable

from rich.markup import escape
from rich.table import Table

from autograder.results import GradeReport, Outcome

STYLES: dict[Outcome, str] = {
    Outcome.PASSED: "green",
    Outcome.FAILED: "yellow",
    Outcome.NOT_ATTEMPTED: "dim",
    Outcome.TIMEOUT: "magenta",
    Outcome.CRASHED: "magenta",
    Outcome.OUT_OF_MEMORY: "magenta",
    Outcome.ERROR: "bold red",
}


def score_table(reports: Iterable[GradeReport], title: str) -> Table:
    """One line a submission: points, outcomes over exercises, how many misconceptions were named, repairs."""
    table = Table(title=title, title_justify="left")
    table.add_column("student", overflow="fold")
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("exercises", overflow="fold")
    table.add_column("named", justify="right", no_wrap=True)
    table.add_column("late", no_wrap=True)
    table.add_column("repairs", justify="right", no_wrap=True)
    for report in reports:
        table.add_row(
            safe(report.student),
            f"{report.score:.4g} / {report.max_score:g}",
            _counts(report),
            str(len(misconceptions(report)) or ""),
            duration(report.late_seconds) if report.late_seconds else "",
            str(len(report.repairs) or ""),
        )
    return table


def check_table(report: GradeReport) -> Table:
    """The checks of one submission; an exercise whose checks all ended alike takes one line."""
    title = f"{safe(report.notebook)}: {report.score:.4g} / {report.max_score:g}"
    table = Table(title=title, title_justify="left")
    table.add_column("exercise", no_wrap=True)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("outcome", no_wrap=True)
    table.add_column("what the student reads", overflow="fold")
    for exercise in report.exercises:
        name = safe(exercise.grade_id.removesuffix("_checks"))
        messages = {check.message for check in exercise.checks}
        if exercise.outcome is Outcome.PASSED or len(messages) == 1:
            passed = exercise.outcome is Outcome.PASSED
            words = f"all {len(exercise.checks)} checks" if passed else messages.pop()
            _line(table, name, exercise.points, exercise.max_points, exercise.outcome, words)
        else:
            for number, check in enumerate(exercise.checks):
                first = name if number == 0 else ""
                _line(table, first, check.points, check.max_points, check.outcome, check.message)
        table.add_section()
    return table


def _line(table: Table, name: str, points: float, most: float, outcome: Outcome, words: str) -> None:
    table.add_row(name, f"{points:.3g} / {most:.3g}", f"[{STYLES[outcome]}]{outcome.value}[/]", safe(words))


def misconceptions(report: GradeReport) -> list[str]:
    """The misconceptions named in a report, each once, as `exercise: name`."""
    found: dict[str, None] = {}
    for exercise in report.exercises:
        for check in exercise.checks:
            if check.misconception:
                found[f"{exercise.grade_id.removesuffix('_checks')}: {check.misconception}"] = None
    return list(found)


def duration(seconds: float) -> str:
    """`1 d 2 h`, `3 h 5 min`, `40 s`: the two largest parts."""
    parts = []
    left = int(seconds)
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"


def safe(text: str) -> str:
    """A student's text for a terminal: no escapes, no markup, at most 300 characters."""
    text = "".join(char if char.isprintable() else "?" for char in text)[:300]
    before, bracket, after = text.rpartition("[")
    if bracket and "]" not in after:
        text = f"{before}({after}"  # it would begin a tag with whatever is printed after it
    return escape(text)


def _counts(report: GradeReport) -> str:
    counts = dict.fromkeys(Outcome, 0)
    for exercise in report.exercises:
        counts[exercise.outcome] += 1
    return ", ".join(
        f"[{STYLES[outcome]}]{count} {outcome.value}[/]" for outcome, count in counts.items() if count
    )

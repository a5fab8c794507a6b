"""What `deepdrills audit` does, with what a person sees meanwhile."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from autograder.batch.audit import Verdict, plan_audit, run_audit
from autograder.batch.course import Course, Options
from autograder.commands import known_assignments
from autograder.errors import UsageError
from autograder.report.audit_table import audit_table
from autograder.report.table import safe

#: Every audit draws the same inputs, so that a miss can be looked at again.
SECRET = "audit"


def audit_assignments(
    course: Course, names: list[str], exercise: str | None, options: Options, jobs: int, console: Console
) -> tuple[dict[str, Any], int]:
    """Try every catalogued answer and print the table; what was found as JSON, and the exit code."""
    chosen = known_assignments(course, names or course.assignments)
    if exercise is not None and len(chosen) != 1:
        raise UsageError("--exercise needs the one assignment that it is in: deepdrills audit A -e EXERCISE.")
    plans = [plan_audit(course, name, exercise) for name in chosen]
    answers = tuple(answer for plan in plans for answer in plan.answers)
    verdicts: list[Verdict] = []
    progress = Progress(
        TextColumn("Trying answers"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("misses {task.fields[misses]}"),
        TimeElapsedColumn(),
        console=console,
    )
    with progress:
        task = progress.add_task("audit", total=len(answers), misses=0)
        for verdict in run_audit(course, answers, options, SECRET, jobs):
            verdicts.append(verdict)
            progress.update(task, advance=1, misses=sum(bool(one.misses) for one in verdicts))
    order = {answer: place for place, answer in enumerate(answers)}
    verdicts.sort(key=lambda one: order[one.answer])
    for name in chosen:
        console.print(audit_table([one for one in verdicts if one.answer.assignment == name], name))
    misses = [miss for plan in plans for miss in plan.gaps]
    misses += [miss for verdict in verdicts for miss in verdict.misses]
    for miss in misses:
        console.print(f"miss: {safe(miss)}", style="red")
    if not misses:
        console.print(f"All {len(verdicts)} answers were told apart as they should be.")
    return {"answers": [one.to_json() for one in verdicts], "misses": misses}, 1 if misses else 0

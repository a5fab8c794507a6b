"""The graded notebook: the rebuilt cells with their outputs, and the checks in the grade cells."""

from __future__ import annotations

import copy
import hashlib
from typing import Any

from autograder.grading.cell_run import CellRun
from autograder.grading.outputs import grade_cell_outputs
from autograder.grading.show import safe_outputs, safe_text
from autograder.grading.submission import PlannedCell, Submission
from autograder.grading.template import Role, Template
from autograder.results import ExerciseResult, GradeReport

MARKING = "marking-scheme"


def graded_notebook(
    submission: Submission, template: Template, runs: list[CellRun], report: GradeReport, budget: int
) -> dict[str, Any]:
    """An nbformat 4.5 notebook as JSON; a submission's outputs together hold at most `budget` bytes."""
    results = {result.grade_id: result for result in report.exercises}
    cells: list[dict[str, Any]] = [_flags(report.flags)] if report.flags else []
    for number, (planned, run) in enumerate(zip(submission.cells, runs, strict=True)):
        cell = _cell(planned, number)
        if planned.cell_type == "code":
            outputs, budget = safe_outputs(run.outputs, budget)
            cell["outputs"] = outputs + _ending(run)
            cell["execution_count"] = None
        if planned.template is not None and planned.template.role is Role.CHECKS:
            _fill(cell, results[planned.template.grade_id])
        cells.append(cell)
        if planned.template is not None and planned.template.marking:
            cells.append(_marking(planned.template.grade_id, planned.template.marking))
    metadata = {
        "kernelspec": template.metadata.get(
            "kernelspec", {"display_name": "Python 3", "language": "python", "name": "python3"}
        ),
        "language_info": {"name": "python"},
        "deepdrills": {"report": report.to_json()},
    }
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _cell(planned: PlannedCell, number: int) -> dict[str, Any]:
    if planned.template is not None:
        cell = copy.deepcopy(planned.template.node)
        cell["source"] = safe_text(planned.source)
        return cell
    name = hashlib.sha256(f"{number}\0{planned.source}".encode()).hexdigest()[:16]
    return {
        "id": f"extra-{name}",
        "cell_type": planned.cell_type,
        "metadata": {"deepdrills": {"role": "extra"}},
        "source": safe_text(planned.source),
    }


def _ending(run: CellRun) -> list[dict[str, Any]]:
    """A word on a cell whose end its own outputs can not tell."""
    if run.failure is None or any(
        isinstance(one, dict) and one.get("output_type") == "error" for one in run.outputs
    ):
        return []
    return [
        {
            "output_type": "error",
            "ename": "Stopped",
            "evalue": str(run.failure),
            "traceback": [f"This cell was stopped. {run.failure}"],
        }
    ]


def _fill(cell: dict[str, Any], result: ExerciseResult) -> None:
    cell["outputs"] = grade_cell_outputs(result)
    cell["metadata"] = {**cell["metadata"], "deepdrills": {"exercise": result.to_json()}}


def _flags(flags: tuple[str, ...]) -> dict[str, Any]:
    lines = "\n".join(f"- {safe_text(flag, 2_000)}" for flag in flags)
    return {
        "id": "flags",
        "cell_type": "markdown",
        "metadata": {"deepdrills": {"role": MARKING}},
        "source": f"**To look at** (markers only; no line takes points off by itself)\n\n{lines}",
    }


def _marking(grade_id: str, scheme: str) -> dict[str, Any]:
    return {
        "id": "marking-" + hashlib.sha256(grade_id.encode()).hexdigest()[:16],
        "cell_type": "markdown",
        "metadata": {"deepdrills": {"role": MARKING}},
        "source": f"**Marking scheme of `{grade_id}`** (markers only)\n\n{scheme}",
    }

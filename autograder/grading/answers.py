"""Make submissions by code: the released notebook with chosen answers in its solution cells.

The demo, the audit and the tests hand in what this makes.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat

from autograder.errors import CourseError
from autograder.exercises.catalogue import load_exercises
from autograder.grading.experiments import Claim, claim_output
from autograder.grading.template import Role, load_template, trimmed


class AnswerSheet:
    """An assignment's released notebook, and the course's own answer to each exercise."""

    def __init__(self, root: Path, assignment: str) -> None:
        self.template = load_template(root, assignment)
        path = root / "source" / assignment / f"{self.template.notebook}.ipynb"
        source = nbformat.read(path, as_version=4)
        self.solutions: dict[str, str] = {
            cell.metadata.nbgrader.grade_id: without_marks(cell.source)
            for cell in source.cells
            if cell.metadata.get("nbgrader", {}).get("solution")
        }
        self._exercises = load_exercises(assignment)

    def only(self, exercise: str) -> AnswerSheet:
        """The sheet of one exercise alone, on a trimmed template."""
        sheet = copy.copy(self)
        sheet.template = trimmed(self.template, exercise)
        needed = (exercise, *self.template.builds_on.get(exercise, ()))
        sheet.solutions = {name: self.solutions[name] for name in needed}
        return sheet

    def notebook(
        self,
        answers: Mapping[str, str | None] | None = None,
        fill: bool = True,
        claims: Mapping[str, Mapping[str, Claim]] | None = None,
    ) -> dict[str, Any]:
        """nbformat JSON with `answers` by exercise in place; None leaves a cell as it was released.

        Cells that `answers` does not name get the course's own answer, or stay as released when
        `fill` is false. `claims`: what experiments recorded, by exercise; by default what is
        catalogued. Raises `CourseError` for an exercise that the assignment does not have.
        """
        chosen: dict[str, str | None] = {**(self.solutions if fill else {}), **(answers or {})}
        known = {cell.grade_id for cell in self.template.cells if cell.role in (Role.SOLUTION, Role.WRITTEN)}
        for name in chosen:
            if name not in known:
                raise CourseError(
                    self.template.assignment, f"has no exercise '{name}'", f"There are: {sorted(known)}."
                )
        cells = []
        for released in self.template.cells:
            cell = copy.deepcopy(released.node)
            answer = chosen.get(released.grade_id)
            if answer is not None:
                cell["source"] = answer
                if released.experiment:
                    recorded = (claims or {}).get(released.grade_id)
                    if recorded is None:
                        recorded = self._recorded(released.grade_id, answer)
                    cell["outputs"] = [claim_output(name, numbers) for name, numbers in recorded.items()]
            cells.append(cell)
        metadata = json.loads(json.dumps(self.template.metadata))
        return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}

    def _recorded(self, exercise: str, answer: str) -> dict[str, Claim]:
        """The claims catalogued with an answer; the course's own has those of the first right one."""
        known = self._exercises.get(exercise)
        if known is None:
            return {}
        recorded = {one.code.strip(): one.claims for one in known.answers}
        own = known.right[0].claims if known.right and answer == self.solutions.get(exercise) else {}
        return recorded.get(answer.strip(), own)

    def bytes(
        self,
        answers: Mapping[str, str | None] | None = None,
        fill: bool = True,
        claims: Mapping[str, Mapping[str, Claim]] | None = None,
    ) -> bytes:
        """`notebook` as the bytes of a file."""
        return json.dumps(self.notebook(answers, fill, claims)).encode()


def without_marks(source: str) -> str:
    """An answer without the lines that delimit regions, and without a marking scheme."""
    kept: list[str] = []
    inside = False
    for line in source.splitlines():
        if "BEGIN MARK SCHEME" in line or "BEGIN HIDDEN TESTS" in line:
            inside = True
        elif "END MARK SCHEME" in line or "END HIDDEN TESTS" in line:
            inside = False
        elif not inside and "BEGIN SOLUTION" not in line and "END SOLUTION" not in line:
            kept.append(line)
    return "\n".join(kept).strip("\n")

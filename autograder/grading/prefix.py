"""Which cells of an assignment come before anything that a student may change, so that all may share them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from autograder.grading.submission import Submission
from autograder.grading.template import Role, Template
from autograder.sandbox.prefix import Prefix, Shared


def locked_prefix(template: Template, files: dict[str, bytes]) -> Prefix | None:
    """The locked code cells before the first answer; None where there are none.

    Illustrations that are drawn already are left out, as they are not run for a submission either.
    `files`: what the course puts beside the notebook.
    """
    cells = []
    for cell in template.cells:
        if cell.cell_type != "code" or cell.grade_id in template.drawn:
            continue
        if cell.role is not Role.LOCKED or cell.experiment:
            break
        if cell.source.strip():
            cells.append(cell.source)
    return Prefix(tuple(cells), files) if cells else None


def shared_cells(
    submission: Submission, shared: Shared | None, given: Collection[int]
) -> dict[int, list[Any]]:
    """The outputs of the shared cells by their place; empty where a student's own comes between.

    `given`: places of pictures that are not drawn for a submission.
    """
    if shared is None or submission.files != shared.prefix.files:
        return {}  # a course's cell might read a student's file
    found: dict[int, list[Any]] = {}
    for index, cell in enumerate(submission.cells):
        if len(found) == len(shared.prefix.cells):
            return found
        if not cell.is_run or index in given or not cell.source.strip():
            continue
        wanted, outputs = shared.prefix.cells[len(found)], shared.outputs[len(found)]
        if cell.template is None or cell.source != wanted or cell.snapshots or cell.outputs is not None:
            return {}
        found[index] = outputs
    return found if len(found) == len(shared.prefix.cells) else {}

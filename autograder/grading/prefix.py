"""Which cells of an assignment come before anything that a student may change, so that all may share them."""

from __future__ import annotations

from autograder.grading.template import Role, Template
from autograder.sandbox.prefix import Prefix


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

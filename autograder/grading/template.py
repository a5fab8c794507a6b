"""An assignment's notebook as the course released it: what every submission is rebuilt on."""

from __future__ import annotations

import ast
import hashlib
import json
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from autograder.errors import CourseError
from autograder.exercises.catalogue import load_exercises
from autograder.grading.experiments import EXPERIMENT

CHECKS = "_checks"
VISIBLE = "_visible"
WRITTEN = "_written"
ILLUSTRATION = "illustration"


class Role(StrEnum):
    """What a released cell is for."""

    LOCKED = "locked"
    SOLUTION = "solution"
    CHECKS = "checks"
    WRITTEN = "written"


@dataclass(frozen=True)
class TemplateCell:
    """One released cell. `node` is its nbformat JSON; `marking` the scheme of a written answer."""

    grade_id: str
    role: Role
    cell_type: str
    source: str
    points: float
    node: dict[str, Any]
    marking: str | None = None
    #: A picture that depends on nothing of the student's: not drawn again for each submission.
    illustration: bool = False
    #: Not run again for each submission; its submitted outputs are kept.
    experiment: bool = False

    @property
    def exercise(self) -> str | None:
        """The exercise of a solution or grade cell."""
        if self.role is Role.SOLUTION:
            return self.grade_id
        return self.grade_id.removesuffix(CHECKS) if self.role is Role.CHECKS else None


@dataclass(frozen=True)
class Template:
    """The released cells in order, and the names that each exercise asks for."""

    assignment: str
    notebook: str
    cells: tuple[TemplateCell, ...]
    asks: dict[str, tuple[str, ...]]
    metadata: dict[str, Any]
    #: Exercises whose answers another one uses.
    builds_on: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: Outputs of illustrations by grade_id, where the executed solutions have them.
    drawn: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Changes whenever a released cell does."""
        parts = [
            [cell.grade_id, cell.cell_type, cell.source, cell.points, cell.experiment] for cell in self.cells
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def load_template(root: Path, assignment: str) -> Template:
    """The template of an assignment from the course's source/. Raises `CourseError`."""
    import nbformat  # here, with nbgrader's preprocessors: a template that is kept needs neither

    from autograder.grading.release_cells import release_cells

    path = source_of(root, assignment)
    try:
        source = nbformat.read(path, as_version=4)
    except Exception as error:
        raise CourseError(path, f"is not a readable notebook ({error})", "Mend it or restore it.") from error
    marking = {
        cell.metadata.nbgrader.grade_id: _marking(cell.source)
        for cell in source.cells
        if "nbgrader" in cell.metadata and cell.metadata.nbgrader.get("grade_id", "").endswith(WRITTEN)
    }
    released = release_cells(source)
    exercises = load_exercises(assignment)
    cells = tuple(_template_cell(cell, marking) for cell in released.cells)
    return Template(
        assignment=assignment,
        notebook=path.stem,
        cells=cells,
        asks={name: exercise.asks for name, exercise in exercises.items()},
        builds_on={name: exercise.builds_on for name, exercise in exercises.items()},
        metadata=dict(released.metadata),
        drawn=_drawn(root / "solutions" / assignment / path.name, cells),
    )


def source_of(root: Path, assignment: str) -> Path:
    """The assignment's one source notebook. Raises `CourseError`."""
    folder = root / "source" / assignment
    notebooks = sorted(folder.glob("*.ipynb"))
    if len(notebooks) != 1:
        found = "has no notebook" if not notebooks else f"has {len(notebooks)} notebooks"
        known = ", ".join(sorted(path.parent.name for path in root.glob("source/*/*.ipynb"))) or "none"
        raise CourseError(folder, found, f"One notebook an assignment is needed; assignments here: {known}.")
    return notebooks[0]


def _drawn(solved: Path, cells: tuple[TemplateCell, ...]) -> dict[str, list[Any]]:
    """The outputs of illustrations in the executed solutions, for cells that are still the same."""
    try:
        known = {cell["id"]: cell for cell in json.loads(solved.read_text(encoding="utf-8"))["cells"]}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    drawn: dict[str, list[Any]] = {}
    for cell in cells:
        other = known.get(cell.node.get("id"), {})
        if cell.illustration and "".join(other.get("source", [])) == cell.source and other.get("outputs"):
            drawn[cell.grade_id] = [joined(output) for output in other["outputs"]]
    return drawn


def joined(output: dict[str, Any]) -> dict[str, Any]:
    """An output as a program gives it: texts whole, where files keep lists of lines."""

    def whole(text: Any) -> Any:
        lines = isinstance(text, list) and all(isinstance(line, str) for line in text)
        return "".join(text) if lines else text

    joined = dict(output)
    if "text" in joined:
        joined["text"] = whole(joined["text"])
    if isinstance(joined.get("data"), dict):
        joined["data"] = {mime: whole(content) for mime, content in joined["data"].items()}
    return joined


def _template_cell(cell: Any, marking: dict[str, str | None]) -> TemplateCell:
    data = cell.metadata.get("nbgrader", {})
    grade, solution = bool(data.get("grade")), bool(data.get("solution"))
    if grade and solution:
        role = Role.WRITTEN
    elif grade:
        role = Role.CHECKS
    else:
        role = Role.SOLUTION if solution else Role.LOCKED
    grade_id = str(data.get("grade_id", ""))
    return TemplateCell(
        grade_id=grade_id,
        role=role,
        cell_type=cell.cell_type,
        source=cell.source,
        points=float(data.get("points", 0.0)) if grade else 0.0,
        node=json.loads(json.dumps(cell)),
        marking=marking.get(grade_id),
        illustration=ILLUSTRATION in cell.metadata.get("tags", []),
        experiment=EXPERIMENT in cell.metadata.get("tags", []),
    )


def _marking(source: str) -> str | None:
    """The text between the marking scheme's delimiters."""
    inside: list[str] = []
    open_ = False
    for line in source.splitlines():
        if "BEGIN MARK SCHEME" in line:
            open_ = True
        elif "END MARK SCHEME" in line:
            open_ = False
        elif open_:
            inside.append(line)
    return "\n".join(inside).strip() or None


def trimmed(template: Template, exercise: str) -> Template:
    """The given code, one exercise and what it builds on: enough to run its suite.

    Without the other exercises, the figures, the cells that use another exercise's answer and what
    comes after the exercise.

    Raises `CourseError` for an exercise that the template does not have.
    """
    exercises = {cell.exercise for cell in template.cells if cell.exercise}
    if exercise not in exercises:
        raise CourseError(
            template.assignment,
            f"has no exercise '{exercise}'",
            f"There are: {', '.join(sorted(exercises))}.",
        )
    wanted = (exercise, *template.builds_on.get(exercise, ()))
    removed = {name for name in exercises if name not in wanted}
    others = tuple(f"{name}_" for name in removed if not exercise.startswith(name))
    end = max(place for place, cell in enumerate(template.cells) if cell.exercise == exercise)
    kept = tuple(
        cell
        for cell in template.cells[: end + 1]
        if cell.exercise == exercise
        or (cell.role is Role.SOLUTION and cell.exercise in wanted)
        or (
            cell.role is Role.LOCKED
            and cell.cell_type == "code"
            and not cell.illustration
            and not cell.grade_id.endswith("_figure")
            and not cell.grade_id.startswith(others)
            and not _uses(cell.source, removed)
        )
    )
    return replace(template, cells=kept)


def _uses(source: str, names: set[str]) -> bool:
    """Whether a cell reads one of these names; not when it is more than plain Python."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except SyntaxError:
        return False
    return any(isinstance(node, ast.Name) and node.id in names for node in nodes)

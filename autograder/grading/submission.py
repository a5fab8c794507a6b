"""Rebuild a submission on the source's cells: the course's cells from the course, the student's
answers by grade_id, the student's own extra cells where they stood. Every repair is said.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.grading.defined_names import CELL_LIMIT, Definitions
from autograder.grading.reading import StudentCell, read_notebook
from autograder.grading.template import Role, Template, TemplateCell

#: Repairs that are kept, and characters of each. A notebook of ours has at most 105 cells, and one that is
#: pasted twice gives a sentence a cell.
REPAIRS_LIMIT, _SENTENCE_LIMIT = 250, 500


@dataclass(frozen=True)
class PlannedCell:
    """One cell of the rebuilt notebook. `template` is None for a student's extra cell."""

    cell_type: str
    source: str
    template: TemplateCell | None
    #: Exercises whose names are taken as they stand after this cell.
    snapshots: tuple[str, ...] = ()
    #: A stub that an answer elsewhere replaces is shown but not run.
    run: bool = True
    #: What an experiment's cell was submitted with; None for a cell that is run.
    outputs: tuple[Any, ...] | None = None

    @property
    def is_students(self) -> bool:
        """Whether the text is the student's own."""
        return self.template is None or self.template.role is Role.SOLUTION

    @property
    def is_run(self) -> bool:
        return self.run and self.cell_type == "code"


@dataclass(frozen=True)
class Submission:
    """A submission as pure content: equal content is graded equally."""

    assignment: str
    notebook: str
    cells: tuple[PlannedCell, ...]
    attempted: frozenset[str]
    repairs: tuple[str, ...]
    files: dict[str, bytes] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Covers every cell's type, text, order and boundaries, experiments' outputs, and every file."""
        parts: list[object] = [self.assignment, self.notebook, sorted(self.attempted), list(self.repairs)]
        for cell in self.cells:
            name = cell.template.grade_id if cell.template else None
            parts.append([cell.cell_type, cell.source, name, list(cell.snapshots), cell.run])
            if cell.outputs is not None:
                parts.append(list(cell.outputs))
        for name, data in sorted(self.files.items()):
            parts.append([name, hashlib.sha256(data).hexdigest()])
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def rebuild(
    raw: bytes | None, template: Template, files: dict[str, bytes] | None = None, notes: tuple[str, ...] = ()
) -> Submission:
    """The submission in the bytes of one notebook file (None: no file was found). Never raises on content."""
    if raw is None:
        cells: list[StudentCell] = []
        repairs = ["No notebook was submitted; nothing could be graded."]
    else:
        cells, repairs = read_notebook(raw)
    matching = _Matching(template, cells, repairs)
    matching.by_grade_id()
    matching.by_text()
    matching.by_defined_name()
    planned, attempted = matching.plan()
    return Submission(
        assignment=template.assignment,
        notebook=template.notebook,
        cells=planned,
        attempted=attempted,
        repairs=_told((*notes, *repairs)),
        files=dict(files or {}),
    )


class _Matching:
    """Which submitted cell stands for which released one; `taken` maps released index to submitted index."""

    def __init__(self, template: Template, cells: list[StudentCell], repairs: list[str]) -> None:
        self.template = template
        self.cells = cells
        self.repairs = repairs
        self.taken: dict[int, int] = {}
        self.dropped: set[int] = set()
        self._definitions = Definitions()

    def by_grade_id(self) -> None:
        claims: dict[str, list[int]] = defaultdict(list)
        for number, cell in enumerate(self.cells):
            if cell.grade_id is not None:
                claims[cell.grade_id].append(number)
        for index, released in enumerate(self.template.cells):
            numbers = [one for one in claims.get(released.grade_id, []) if not self._misnamed(one, released)]
            if not numbers:
                continue
            numbers = self._without_twins(numbers, released)
            unchanged = [one for one in numbers if _same(self.cells[one].source, released.source)]
            if _answers(released):
                changed = [one for one in numbers if one not in unchanged]
                answers = [one for one in changed if self._defines(self.cells[one].source, released)]
                chosen = (answers or changed or numbers)[-1]
            else:
                chosen = (unchanged or numbers)[0]
            self.taken[index] = chosen
            for other in numbers:
                if other != chosen:
                    self._duplicate(other, released)

    def _misnamed(self, number: int, released: TemplateCell) -> bool:
        """Whether a cell under an exercise's grade_id answers other exercises and not this one."""
        source = self.cells[number].source
        return (
            released.role is Role.SOLUTION
            and not self._defines(source, released)
            and any(self._defines(source, other) for other in self.template.cells)
        )

    def _without_twins(self, numbers: list[int], released: TemplateCell) -> list[int]:
        """The cells of one grade_id without those that repeat the text of an earlier one."""
        kept: dict[tuple[str, str], int] = {}
        for number in numbers:
            text = _normal(self.cells[number].source)
            # An experiment's outputs are a part of its answer.
            outputs = json.dumps(self.cells[number].outputs) if released.experiment else ""
            if kept.setdefault((text, outputs), number) == number:
                continue
            self.dropped.add(number)
            what = "an unchanged copy" if text == _normal(released.source) else "an identical copy"
            self.repairs.append(f"Cell '{released.grade_id}' stood more than once; {what} was left out.")
        return list(kept.values())

    def _duplicate(self, number: int, released: TemplateCell) -> None:
        if _same(self.cells[number].source, released.source):
            self.dropped.add(number)
            self.repairs.append(
                f"Cell '{released.grade_id}' stood more than once; an unchanged copy was left out."
            )
        elif _answers(released):
            self.repairs.append(
                f"Cell '{released.grade_id}' stood more than once; the last one that answers was graded, "
                "the others were kept as extra cells."
            )
        else:
            self.repairs.append(
                f"A changed copy of the course's cell '{released.grade_id}' was kept as an extra cell."
            )

    def by_text(self) -> None:
        """Course cells and untouched answer cells whose metadata was lost are known by their text."""
        free = self._free()
        by_text: dict[str, list[int]] = defaultdict(list)
        for number in free:
            by_text[_normal(self.cells[number].source)].append(number)
        found = 0
        for index, released in enumerate(self.template.cells):
            if index in self.taken or not released.source.strip():
                continue
            numbers = by_text.get(_normal(released.source))
            if numbers:
                self.taken[index] = numbers.pop(0)
                found += 1
        if found:
            self.repairs.append(
                f"The metadata of {found} cells was lost; they were recognised by their text."
            )
        for index, released in enumerate(self.template.cells):
            if index in self.taken:
                for number in by_text.get(_normal(released.source), []):
                    self.dropped.add(number)
                    self.repairs.append(
                        f"Cell '{released.grade_id}' stood more than once; an unchanged copy was left out."
                    )

    def by_defined_name(self) -> None:
        """Answers whose metadata was lost are known by the names that they define, or by their place.

        A place is one between cells that are known: a text alone in a strange notebook is no answer.
        """
        for index, released in enumerate(self.template.cells):
            if index in self.taken or not _answers(released):
                continue
            if released.role is Role.WRITTEN and not self.taken:
                continue
            before = max((self.taken[i] for i in self.taken if i < index), default=-1)
            after = min((self.taken[i] for i in self.taken if i > index), default=len(self.cells))
            between = [one for one in self._free() if before < one < after]
            if released.role is Role.WRITTEN:
                candidates = [one for one in between if self.cells[one].cell_type != "code"]
            else:
                candidates = [one for one in between if self._defines(self.cells[one].source, released)]
                candidates = candidates or [
                    one for one in self._free() if self._defines(self.cells[one].source, released)
                ]
            if candidates:
                self.taken[index] = candidates[-1]
                self.repairs.append(
                    f"The answer cell '{released.grade_id}' had lost its metadata; "
                    f"cell {candidates[-1] + 1} of the notebook was taken for it."
                )
            elif released.role is Role.SOLUTION:
                self._merged(index, released)

    def _merged(self, index: int, released: TemplateCell) -> None:
        """An answer that was written into, or merged with, another cell of the course's."""
        for other, number in list(self.taken.items()):
            course = self.template.cells[other]
            text = self.cells[number].source
            if (
                course.cell_type == "code"
                and self._defines(text, released)
                and not self._defines(course.source, released)
                and not _same(text, course.source)
            ):
                self.taken[index] = number
                self.repairs.append(
                    f"The answer to '{released.grade_id}' stood in the cell '{course.grade_id}'; "
                    "it was taken from there."
                )
                return

    def _defines(self, source: str, released: TemplateCell) -> bool:
        """Whether a cell defines a name that the exercise of a released cell asks for."""
        exercise = released.exercise
        return exercise is not None and self._definitions.any_of(
            self.template.asks.get(exercise, (exercise,)), source
        )

    def _free(self) -> list[int]:
        used = set(self.taken.values()) | self.dropped
        return [number for number in range(len(self.cells)) if number not in used]

    def plan(self) -> tuple[tuple[PlannedCell, ...], frozenset[str]]:
        """The rebuilt cells in the source's order, and the exercises that were attempted."""
        self._say_what_changed()
        anchor: dict[int, list[int]] = defaultdict(list)
        position = {number: index for index, number in self.taken.items()}
        last = -1
        for number, cell in enumerate(self.cells):
            if number in position:
                last = position[number]
            elif number not in self.dropped and cell.source.strip():
                anchor[last].append(number)
        planned: list[PlannedCell] = [self._extra(number) for number in anchor[-1]]
        for index, released in enumerate(self.template.cells):
            planned.append(self._released(index, released))
            planned.extend(self._extra(number) for number in anchor[index])
        return self._snapshots(planned)

    def _released(self, index: int, released: TemplateCell) -> PlannedCell:
        source = released.source
        if _answers(released) and index in self.taken:
            source = self.cells[self.taken[index]].source
        outputs: tuple[Any, ...] | None = None
        if released.experiment:
            outputs = self.cells[self.taken[index]].outputs if index in self.taken else ()
        return PlannedCell(released.cell_type, source, released, outputs=outputs)

    def _extra(self, number: int) -> PlannedCell:
        return PlannedCell(self.cells[number].cell_type, self.cells[number].source, None)

    def _snapshots(self, planned: list[PlannedCell]) -> tuple[tuple[PlannedCell, ...], frozenset[str]]:
        attempted: set[str] = set()
        takes: dict[int, list[str]] = defaultdict(list)
        idle: set[int] = set()
        own = {
            exercise: place
            for place, cell in enumerate(planned)
            if cell.template and cell.template.role is Role.SOLUTION and (exercise := cell.template.exercise)
        }
        for place, cell in enumerate(planned):
            if cell.template is None or cell.template.role is not Role.CHECKS:
                continue
            exercise = cell.template.exercise or ""
            solution = own.get(exercise)
            changed = solution is not None and not _same(planned[solution].source, _stub(planned[solution]))
            if changed:
                attempted.add(exercise)
                takes[place].append(exercise)
                continue
            elsewhere = [
                number
                for number, other in enumerate(planned)
                if other.template is None
                and other.cell_type == "code"
                and self._defines(other.source, cell.template)
            ]
            if elsewhere:
                attempted.add(exercise)
                if solution is not None:
                    idle.add(solution)
                self.repairs.append(
                    f"The answer to '{exercise}' stands in a cell of the student's own; it was graded."
                )
            takes[max([place, *elsewhere])].append(exercise)
        cells = tuple(
            replace(cell, snapshots=tuple(takes[place]), run=place not in idle)
            for place, cell in enumerate(planned)
        )
        return cells, frozenset(attempted)

    def _say_what_changed(self) -> None:
        if not self.cells:
            return
        if not self.taken:
            self.repairs.append(
                f"No cell of {self.template.assignment} was found in the notebook: "
                "is it of another assignment? Every cell of the course was put back."
            )
            return
        for index, released in enumerate(self.template.cells):
            if index not in self.taken:
                what = "answer cell" if _answers(released) else "cell"
                self.repairs.append(f"The {what} '{released.grade_id}' was missing and was put back.")
                continue
            cell = self.cells[self.taken[index]]
            if cell.cell_type != released.cell_type:
                self.repairs.append(
                    f"The cell '{released.grade_id}' had become a {cell.cell_type} cell and was made "
                    f"a {released.cell_type} cell again."
                )
            if not _answers(released) and not _same(cell.source, released.source):
                self.repairs.append(
                    f"The course's cell '{released.grade_id}' had been edited and was restored."
                )
        order = [self.taken[index] for index in sorted(self.taken)]
        if order != sorted(order):
            self.repairs.append("Cells had been moved; the course's order was restored.")


def _told(repairs: tuple[str, ...]) -> tuple[str, ...]:
    """Each sentence once, and no more of them than somebody may read."""
    told = [
        one if len(one) <= _SENTENCE_LIMIT else f"{one[:_SENTENCE_LIMIT]} [cut]"
        for one in dict.fromkeys(repairs)
    ]
    more = len(told) - REPAIRS_LIMIT
    return (*told[:REPAIRS_LIMIT], *([f"{more} more repairs are not listed."] if more > 0 else []))


def _answers(released: TemplateCell) -> bool:
    return released.role in (Role.SOLUTION, Role.WRITTEN)


def _stub(cell: PlannedCell) -> str:
    return cell.template.source if cell.template else ""


def _normal(source: str) -> str:
    if len(source) > CELL_LIMIT:
        return source  # no cell of the course's: to take it apart would cost more than all others together
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


def _same(source: str, other: str) -> bool:
    return _normal(source) == _normal(other)

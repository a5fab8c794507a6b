"""Submissions whose cells were deleted, copied, moved, merged, retyped, or lost what nbgrader wrote in them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from autograder.results import Outcome

from .case import WRITTEN, Data, Odd, Spoil, about, cell, own, place, sheet

ANSWER, CHECKS, VISIBLE = "output_size", "output_size_checks", "output_size_visible"
SCRATCH = "output_size(28, 5)"


def delete(*grade_ids: str) -> Spoil:
    def spoil(data: Data) -> None:
        for one in grade_ids:
            del data["cells"][place(data, one)]

    return spoil


def double(grade_id: str, before: bool = False, **changes: Any) -> Spoil:
    """A copy after (or before) the cell, with `changes` of its own."""

    def spoil(data: Data) -> None:
        number = place(data, grade_id)
        twin = copy.deepcopy(data["cells"][number])
        twin["metadata"]["nbgrader"] |= changes.pop("nbgrader", {})
        twin |= changes
        data["cells"].insert(number + (not before), twin)

    return spoil


def edit(grade_id: str, /, **changes: Any) -> Spoil:
    return lambda data: cell(data, grade_id).update(changes)


def meta(grade_id: str, /, **changes: Any) -> Spoil:
    return lambda data: about(data, grade_id).update(changes)


def each(change: Callable[[dict[str, Any]], object]) -> Spoil:
    def spoil(data: Data) -> None:
        for one in data["cells"]:
            change(one)

    return spoil


def graded(change: Callable[[dict[str, Any]], object]) -> Spoil:
    """Change the nbgrader metadata of every cell."""
    return each(lambda one: change(one["metadata"]["nbgrader"]))


def insert(before: str, *cells: dict[str, Any]) -> Spoil:
    def spoil(data: Data) -> None:
        number = place(data, before)
        data["cells"][number:number] = cells

    return spoil


def merge(keep: str, *grade_ids: str) -> Spoil:
    def spoil(data: Data) -> None:
        text = "\n\n".join(cell(data, one)["source"] for one in grade_ids)
        delete(*(one for one in grade_ids if one != keep))(data)
        cell(data, keep)["source"] = text

    return spoil


def several(*spoils: Spoil) -> Spoil:
    return lambda data: [spoil(data) for spoil in spoils]


def _one_cell(data: Data) -> None:
    text = "\n\n".join(one["source"] for one in data["cells"] if one["cell_type"] == "code")
    data["cells"] = [own(text)]


def _swap_names(data: Data) -> None:
    first, second = about(data, "output_size"), about(data, "max_pool")
    first["grade_id"], second["grade_id"] = second["grade_id"], first["grade_id"]


def _split(data: Data) -> None:
    head, tail = "def _size(n, k, padding, stride):", "def output_size(n, k, padding=0, stride=1):"
    body = cell(data, ANSWER)["source"].partition("\n")[2]
    cell(data, ANSWER)["source"] = f"{head}\n{body}"
    number = place(data, ANSWER) + 1
    data["cells"].insert(number, own(f"{tail}\n    return _size(n, k, padding, stride)"))


def missing(*names: str) -> tuple[str, ...]:
    return tuple(f"The cell '{name}' was missing and was put back." for name in names)


def lost_metadata(recognised: int, start: int = 1) -> tuple[str, ...]:
    """What is said when no cell has a grade_id any more."""
    course = [one.grade_id for one in sheet().template.cells]
    answers = ("dense_parameters", "output_size", "max_pool", "equivariance_written")
    return (
        f"The metadata of {recognised} cells was lost; they were recognised by their text.",
        *(
            f"The answer cell '{name}' had lost its metadata; cell {course.index(name) + start} of the "
            "notebook was taken for it."
            for name in answers
        ),
    )


SEVERAL = "stood more than once; the last one that answers was graded, the others were kept as extra cells."
COPY = "stood more than once; an unchanged copy was left out."
TWIN = "stood more than once; an identical copy was left out."
MOVED = "Cells had been moved; the course's order was restored."
OWN_CELL = "The answer to 'output_size' stands in a cell of the student's own; it was graded."
LOST_ANSWER = "The answer cell '{}' had lost its metadata; cell {} of the notebook was taken for it."
EDITED = "The course's cell '{}' had been edited and was restored."
#: Where the answer to output_size stands in the notebook, counted from one.
AT = [one.grade_id for one in sheet().template.cells].index(ANSWER) + 1
AT_LAST = [one.grade_id for one in sheet().template.cells].index("max_pool") + 1
COURSE_CELLS = len(sheet().template.cells) - 4
NONE = Outcome.NOT_ATTEMPTED
STUB = next(one.source for one in sheet().template.cells if one.grade_id == ANSWER)

CELLS = [
    Odd("as it should be"),
    # duplicated
    Odd("answer cell duplicated", double(ANSWER), said=(f"Cell '{ANSWER}' {TWIN}",)),
    Odd("answer cell duplicated with schema version 1",
        double(ANSWER, nbgrader={"schema_version": 1}), said=(f"Cell '{ANSWER}' {TWIN}",)),
    Odd("answer cell duplicated with schema version 2, stub first",
        double(ANSWER, before=True, source=STUB, nbgrader={"schema_version": 2}),
        said=(f"Cell '{ANSWER}' {COPY}",)),
    Odd("schema version 99 everywhere", graded(lambda one: one.update(schema_version=99))),
    Odd("schema version missing everywhere", graded(lambda one: one.pop("schema_version"))),
    Odd("copy of the answer used as scratch paper", double(ANSWER, source=SCRATCH),
        said=(f"Cell '{ANSWER}' {SEVERAL}",)),
    Odd("grade cell duplicated", double(CHECKS), said=(f"Cell '{CHECKS}' {COPY}",)),
    Odd("locked cell duplicated and changed", double(VISIBLE, source="print('mine')"),
        said=(f"A changed copy of the course's cell '{VISIBLE}' was kept as an extra cell.",)),
    Odd("whole notebook pasted twice",
        lambda data: data["cells"].extend(copy.deepcopy(data["cells"])),
        said=tuple(f"Cell '{one.grade_id}' {TWIN if one.role.value in ('solution', 'written') else COPY}"
                   for one in sheet().template.cells)),
    # deleted
    Odd("grade cell deleted", delete(CHECKS), said=missing(CHECKS)),
    Odd("answer cell deleted", delete(ANSWER), lost={ANSWER: NONE},
        said=(f"The answer cell '{ANSWER}' was missing and was put back.",)),
    Odd("statements and visible checks deleted", delete("title", "max_pool_statement", VISIBLE),
        said=missing("title", VISIBLE, "max_pool_statement")),
    Odd("everything but the answers deleted",
        lambda data: data.update(cells=[one for one in data["cells"] if about_of(one)["solution"]]),
        said=missing(*(one.grade_id for one in sheet().template.cells
                       if one.role.value not in ("solution", "written")))),
    Odd("no cell at all", lambda data: data.update(cells=[]), lost=dict.fromkeys(
        ("dense_parameters", "output_size", "max_pool"), NONE),
        said=("The notebook has no cells; no answer was found in it.",)),
    # moved
    Odd("two exercises swapped",
        lambda data: data["cells"].insert(place(data, "dense_parameters"),
                                          data["cells"].pop(place(data, "max_pool"))), said=(MOVED,)),
    Odd("all cells reversed", lambda data: data["cells"].reverse(), said=(MOVED,)),
    # retyped
    Odd("answer made markdown", edit(ANSWER, cell_type="markdown"),
        said=(f"The cell '{ANSWER}' had become a markdown cell and was made a code cell again.",)),
    Odd("grade cell made raw", edit(CHECKS, cell_type="raw"),
        said=(f"The cell '{CHECKS}' had become a raw cell and was made a code cell again.",)),
    Odd("statement made code", edit("title", cell_type="code"),
        said=("The cell 'title' had become a code cell and was made a markdown cell again.",)),
    Odd("written answer made code", edit("equivariance_written", cell_type="code", source=f"# {WRITTEN}"),
        said=("The cell 'equivariance_written' had become a code cell and was made a markdown cell again.",)),
    Odd("cells of a type that does not exist", edit(ANSWER, cell_type="slide"),
        said=(f"Cell {AT} has an unknown type; it was read as text.",
              f"The cell '{ANSWER}' had become a raw cell and was made a code cell again.")),
    # merged and split
    Odd("answer merged with its checks", merge(ANSWER, ANSWER, VISIBLE, CHECKS),
        said=missing(VISIBLE, CHECKS)),
    Odd("answer merged into the visible checks", merge(VISIBLE, ANSWER, VISIBLE),
        said=(f"The answer to '{ANSWER}' stood in the cell '{VISIBLE}'; it was taken from there.",
              EDITED.format(VISIBLE))),
    Odd("all code in one cell without metadata", _one_cell,
        said=("The answer cell 'dense_parameters' had lost its metadata; cell 1 of the notebook was taken for it.",
              "The answer to 'output_size' stood in the cell 'dense_parameters'; it was taken from there.",
              "The answer to 'max_pool' stood in the cell 'dense_parameters'; it was taken from there.",
              *(f"The {'answer cell' if one.grade_id.endswith('_written') else 'cell'} '{one.grade_id}' "
                "was missing and was put back." for one in sheet().template.cells
                if one.role.value != "solution"))),
    Odd("answer split over two cells", _split, said=()),
    # grade_id
    Odd("grade_id changed", meta(ANSWER, grade_id="my_answer"), said=(LOST_ANSWER.format(ANSWER, AT),)),
    Odd("grade_id blank", meta(ANSWER, grade_id=""), said=(LOST_ANSWER.format(ANSWER, AT),)),
    Odd("grade_id a number", meta(ANSWER, grade_id=7), said=(LOST_ANSWER.format(ANSWER, AT),)),
    Odd("grade_id of another answer", meta("max_pool", grade_id=ANSWER),
        said=(LOST_ANSWER.format("max_pool", AT_LAST),)),
    Odd("grade_ids of two answers swapped", _swap_names,
        said=(LOST_ANSWER.format(ANSWER, AT), LOST_ANSWER.format("max_pool", AT_LAST))),
    Odd("grade_id of a grade cell on the answer", meta(ANSWER, grade_id=CHECKS),
        said=(f"A changed copy of the course's cell '{CHECKS}' was kept as an extra cell.",
              LOST_ANSWER.format(ANSWER, AT))),
    # flags, points, checksums
    Odd("points edited", graded(lambda one: one.update(points=1000))),
    Odd("points not a number", graded(lambda one: one.update(points="NaN"))),
    Odd("checksums edited", graded(lambda one: one.update(checksum="0" * 32))),
    Odd("locked flags removed and a locked cell edited",
        several(graded(lambda one: one.update(locked=False)), edit(VISIBLE, source="assert True")),
        said=(EDITED.format(VISIBLE),)),
    Odd("grade and solution flags swapped",
        graded(lambda one: one.update(grade=one["solution"], solution=one["grade"]))),
    Odd("every cell a task", graded(lambda one: one.update(task=True))),
    Odd("tags that skip execution",
        each(lambda one: one["metadata"].update(tags=["skip-execution", "illustration", "author-only"]))),
    # metadata of the wrong kind
    Odd("nbgrader metadata of one cell lost", lambda data: cell(data, ANSWER)["metadata"].clear(),
        said=(LOST_ANSWER.format(ANSWER, AT),)),
    Odd("nbgrader metadata a list", each(lambda one: one["metadata"].update(nbgrader=[1, 2])),
        said=lost_metadata(COURSE_CELLS)),
    Odd("cell metadata null", each(lambda one: one.update(metadata=None)), said=lost_metadata(COURSE_CELLS)),
    Odd("notebook metadata missing", lambda data: data.pop("metadata")),
    Odd("notebook metadata a text", lambda data: data.update(metadata="python")),
    # the student's own cells
    Odd("answer in an added cell",
        several(edit(ANSWER, source=STUB), insert(VISIBLE, own(sheet().solutions[ANSWER]))), said=(OWN_CELL,)),
    Odd("answer in an added cell at the top",
        several(edit(ANSWER, source=STUB), insert("title", own(sheet().solutions[ANSWER]))), said=(OWN_CELL,)),
    Odd("answer in an added cell at the end",
        several(edit(ANSWER, source=STUB),
                lambda data: data["cells"].append(own(sheet().solutions[ANSWER]))), said=(OWN_CELL,)),
    Odd("answer in an added text cell",
        several(edit(ANSWER, source=STUB), insert(VISIBLE, own(sheet().solutions[ANSWER], "markdown"))),
        lost={ANSWER: NONE}),
    Odd("five hundred empty cells", lambda data: data["cells"].extend(own("") for _ in range(500))),
    Odd("three thousand cells", lambda data: data["cells"].extend(own("x = 1", "raw") for _ in range(3000)),
        said=(f"The notebook has {len(sheet().template.cells) + 3000} cells; only the first 2000 were read.",)),
    Odd("untouched", lambda data: [cell(data, one.grade_id).update(source=one.source)
                                   for one in sheet().template.cells],
        lost=dict.fromkeys(("dense_parameters", "output_size", "max_pool"), NONE)),
]  # fmt: skip


def about_of(one: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = one["metadata"]["nbgrader"]
    return found

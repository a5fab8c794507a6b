"""An odd submission: how it is made from the released notebook, what it earns, and what is said of it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from autograder.grading.answers import AnswerSheet
from autograder.grading.template import trimmed
from autograder.results import Outcome

from ..arena import ASSIGNMENT, EXERCISES, ROOT

NOTEBOOK = "convolution.ipynb"
WRITTEN = "A filter commutes with the shift: equivariant. Its greatest value stays: almost invariant."
#: What the checks of the three exercises are worth; the written answer is marked by a person.
FULL = {"dense_parameters": 1.0, "output_size": 2.0, "max_pool": 2.0}

Data = dict[str, Any]
#: Changes the notebook's JSON in place.
Spoil = Callable[[Data], object]
Encode = Callable[[Data], bytes]
#: Puts the bytes of the notebook's file, and what else is handed in, into a folder.
Lay = Callable[[Path, bytes], object]


def _nothing(data: Data) -> None: ...


def as_json(data: Data) -> bytes:
    return json.dumps(data).encode()


def under(name: str) -> Lay:
    """The notebook's file under this name."""

    def lay(folder: Path, raw: bytes) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)

    return lay


_as_it_should_be = under(NOTEBOOK)


@dataclass(frozen=True)
class Odd:
    """One case. By default everything is answered rightly, nothing is lost and nothing need be said."""

    name: str
    spoil: Spoil = _nothing
    encode: Encode = as_json
    lay: Lay = _as_it_should_be
    #: What replaces the right answers, by exercise; None leaves the cell as it was released.
    answers: Mapping[str, str | None] = field(default_factory=dict)
    #: Exercises that earn nothing, and why; all others earn everything.
    lost: Mapping[str, Outcome] = field(default_factory=dict)
    #: The repairs, in order, word for word.
    said: tuple[str, ...] = ()
    #: A part of what the outputs of the student's cells show, or of what a check says.
    shows: str = ""

    @property
    def points(self) -> float:
        return sum(points for name, points in FULL.items() if name not in self.lost)

    def hand_in(self, folder: Path) -> Path:
        """Write the submission into a folder, which is made."""
        data = sheet().notebook({"equivariance_written": WRITTEN, **self.answers})
        self.spoil(data)
        folder.mkdir(parents=True, exist_ok=True)
        self.lay(folder, self.encode(data))
        return folder


@cache
def sheet() -> AnswerSheet:
    """The released notebook of ps1, with three exercises and the written answer left in it."""
    whole = AnswerSheet(ROOT, ASSIGNMENT)
    kept = {"title", "counting_text", "equivariance_question", "equivariance_written"}
    for name in EXERCISES:
        kept |= {cell.grade_id for cell in trimmed(whole.template, name).cells} | {f"{name}_statement"}
    kept -= {"savings"}  # it uses an exercise that is not in it
    short = copy.copy(whole)
    cells = tuple(cell for cell in whole.template.cells if cell.grade_id in kept)
    short.template = replace(whole.template, cells=cells)
    short.solutions = {name: whole.solutions[name] for name in (*EXERCISES, "equivariance_written")}
    return short


# ---- where things are in a notebook's JSON ----


def place(data: Data, grade_id: str) -> int:
    """Where a cell of the course stands."""
    return next(
        number
        for number, cell in enumerate(data["cells"])
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id
    )


def cell(data: Data, grade_id: str) -> dict[str, Any]:
    found: dict[str, Any] = data["cells"][place(data, grade_id)]
    return found


def about(data: Data, grade_id: str) -> dict[str, Any]:
    """A cell's nbgrader metadata."""
    found: dict[str, Any] = cell(data, grade_id)["metadata"]["nbgrader"]
    return found


def own(source: str, kind: str = "code") -> dict[str, Any]:
    """A cell of the student's own."""
    made: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": source}
    return made | ({"outputs": [], "execution_count": None} if kind == "code" else {})

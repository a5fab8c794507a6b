"""What a cell did, as it is kept until the graded notebook is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograder.grading.experiments import AS_SUBMITTED
from autograder.grading.template import joined
from autograder.sandbox.session import failure
from autograder.sandbox.student import StudentFailure

_FULL = "[The outputs of this cell were left out: the cells before it put out too much.]\n"


@dataclass
class CellRun:
    """What one cell did: its outputs as received, and how it failed if it did."""

    outputs: list[Any] = field(default_factory=list)
    failure: StudentFailure | None = None
    ran: bool = False


class Keeper:
    """Keeps what cells put out, until they hold more than `room` bytes together."""

    def __init__(self, room: int) -> None:
        self._room = room

    def keep(self, run: CellRun, answer: dict[str, Any]) -> None:
        """Note in `run` what came back of its cell.

        Raises its failure when the process holds too much memory to go on.
        """
        run.ran = True
        outputs = answer.get("outputs")
        run.outputs = [one for one in outputs if isinstance(one, dict)] if isinstance(outputs, list) else []
        for one in run.outputs:  # an array's comparison with a word is no bool
            if not isinstance(one.get("output_type"), str):
                one["output_type"] = ""
        self._room -= bulk(run.outputs)
        if self._room < 0:
            run.outputs = [{"output_type": "stream", "name": "stderr", "text": _FULL}]
        if answer.get("failure") is not None:
            run.failure = failure(answer["failure"])
            if isinstance(answer["failure"], dict) and answer["failure"].get("held") is True:
                raise run.failure  # what it still holds would starve every later cell


#: What a part of a list or a dict costs beside its content, in bytes. Its objects take about a hundred, and
#: reading and comparing it takes the time of some hundred bytes of an array.
_PART = 250


def bulk(value: Any) -> int:
    """About how many bytes of memory an answer or an output holds."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, str | bytes):
        return _PART + len(value)
    inner: Iterable[Any] = ()
    if isinstance(value, dict):
        inner = [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple):
        inner = value
    return _PART + sum(map(bulk, inner))


def as_submitted(outputs: tuple[Any, ...]) -> list[Any]:
    """Submitted outputs under a line that says what they are, texts whole where files keep lists of lines."""
    note = {"output_type": "stream", "name": "stdout", "text": AS_SUBMITTED}
    kept = [one for one in outputs if isinstance(one, dict) and isinstance(one.get("output_type"), str)]
    return [note, *(joined(one) for one in kept)]

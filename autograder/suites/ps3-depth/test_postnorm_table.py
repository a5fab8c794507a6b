"""Checks of `table`, `postnorm_resembles` and `postnorm_bounded`. Words earn nothing without the table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close, entries, items, same
from autograder.reference.depth import ConvStack
from autograder.sandbox.student import Student
from autograder.suites.stacks import Probe, measuring, same_logits, table_line

CODE = measuring("ConvStackPostNorm(**keywords)")
MODES = (*ConvStack.MODES, "postnorm")
#: What post-norm gives over seeds 0 to 9: loss, ratio, first and last activations, as (centre, reach).
POSTNORM = ((1.65, 0.35), (2.35, 1.65), (0.78, 0.06), (0.78, 0.06))


def _table(student: Student, rng: np.random.Generator) -> dict[str, Any]:
    """The lines of the table, given that the class behind the fourth is the asked one."""
    for depth in (3, 4):
        probe = Probe(rng, ["postnorm"] * depth, channels=5)
        same_logits(student.run(CODE, needs=("ConvStackPostNorm",), **probe.inputs()), probe)
    return entries(student.value("table"), list(MODES))


def _given_lines(table: dict[str, Any]) -> None:
    for mode in ConvStack.MODES:
        for value, right in zip(items(table[mode], 4), table_line(mode), strict=True):
            close(value, right, rtol=2e-2, atol=0)


def _postnorm_line(table: dict[str, Any]) -> None:
    for value, (centre, reach) in zip(items(table["postnorm"], 4), POSTNORM, strict=True):
        close(value, centre, rtol=0, atol=reach)


def test_given_modes(student: Student, rng: np.random.Generator) -> None:
    """The lines of the three given modes: loss, gradient ratio, first and last activations at 20 blocks."""
    _given_lines(_table(student, rng))


def test_postnorm_line(student: Student, rng: np.random.Generator) -> None:
    """The line of post-norm, measured on a class that passes its own checks."""
    _postnorm_line(_table(student, rng))


@pytest.mark.weight(2)
def test_conclusion(student: Student, rng: np.random.Generator) -> None:
    """What the table says: which mode post-norm resembles, and whether its activations stay bounded."""
    table = _table(student, rng)
    _given_lines(table)
    _postnorm_line(table)
    resembles, bounded = student.value("postnorm_resembles"), student.value("postnorm_bounded")
    same(resembles, "prenorm")
    same(bounded, True)

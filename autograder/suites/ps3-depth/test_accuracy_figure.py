"""Checks of `accuracy_figure(depths, plain, prenorm)`: the figure as data."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.sandbox.student import Student
from autograder.suites.figures import READ, axes_with, labelled, told_apart

CODE = READ.format(call="accuracy_figure(depths, plain, prenorm)")


def _axes(student: Student, rng: np.random.Generator) -> dict[str, Any]:
    """Two figures of different numbers; the axes of the second."""
    axes: dict[str, Any] = {}
    for depths in ([3, 6, 11, 19, 25], [4, 9, 16]):
        plain, prenorm = ([float(v) for v in rng.uniform(0.2, 0.9, len(depths)).round(3)] for _ in range(2))
        answer = student.run(CODE, needs=("accuracy_figure",), depths=depths, plain=plain, prenorm=prenorm)
        axes = axes_with(answer, [(depths, plain), (depths, prenorm)])
    return axes


def test_curves(student: Student, rng: np.random.Generator) -> None:
    """Two curves against the depth, with one point at each depth, in one pair of axes."""
    _axes(student, rng)


def test_words(student: Student, rng: np.random.Generator) -> None:
    """Both axes have a label, and a legend names the two modes."""
    axes = _axes(student, rng)
    labelled(axes)
    told_apart(axes, ("plain", "prenorm"))

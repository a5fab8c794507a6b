"""Checks of `skip_figure(removed, end, start)`: the figure as data."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.sandbox.student import Student
from autograder.suites.figures import READ, axes_with, labelled, scaled, told_apart

CODE = READ.format(call="skip_figure(removed, end, start)")


def _axes(student: Student, rng: np.random.Generator) -> list[dict[str, Any]]:
    found = []
    for removed in ([0, 4, 9, 15], [0, 3, 6, 9, 12]):
        end, start = (
            [float(f"{10**v:.4g}") for v in -np.sort(rng.uniform(0.0, 8.0, len(removed)))] for _ in range(2)
        )
        answer = student.run(CODE, needs=("skip_figure",), removed=removed, end=end, start=start)
        found.append(axes_with(answer, [(removed, end), (removed, start)]))
    return found


def test_curves(student: Student, rng: np.random.Generator) -> None:
    """Two curves against the number of removed skips, with one point at each number, in one pair of axes."""
    _axes(student, rng)


def test_scale(student: Student, rng: np.random.Generator) -> None:
    """The ratios stand on a logarithmic axis, the numbers of removed skips on a linear one."""
    for axes in _axes(student, rng):
        scaled(axes, "yscale", "log")
        scaled(axes, "xscale", "linear")


def test_words(student: Student, rng: np.random.Generator) -> None:
    """Both axes have a label, and a legend says which skips were removed."""
    for axes in _axes(student, rng):
        labelled(axes)
        told_apart(axes, ("end", "start"))

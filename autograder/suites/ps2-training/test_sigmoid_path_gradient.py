"""Checks of `sigmoid_path_gradient(z)`.

Products get small, so they are compared relatively; |z| stays at 8 or below, where float32 still has
1 - s to four digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close
from autograder.reference import initialisation as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]


def _agree(student: Student, paths: list[Array]) -> None:
    answers = [student.sigmoid_path_gradient(path) for path in paths]
    for answer, path in zip(answers, paths, strict=True):
        close(answer, reference.sigmoid_path_gradient(path), atol=0.0)


def test_one_layer(student: Student, rng: np.random.Generator) -> None:
    """A path through a single unit."""
    z = float(rng.choice([-1.5, -0.75, 1.25, 2.5]))
    _agree(student, [np.array([one]) for one in (0.0, 5.0, -8.0, z)])


@pytest.mark.weight(2)
def test_short_paths(student: Student, rng: np.random.Generator) -> None:
    """Paths through a few units, with pre-activations of both signs."""
    drawn = rng.uniform(-3.0, 3.0, size=4).round(2)
    _agree(student, [np.array([0.0, 2.0, -1.0]), np.array([-3.0, -3.0]), drawn])


def test_deep_paths(student: Student, rng: np.random.Generator) -> None:
    """Paths through many units, where nearly nothing is left."""
    _agree(student, [np.zeros(20), np.zeros(40), rng.uniform(-2.0, 2.0, size=15).round(2)])

"""Checks of `convolution_matrix(kernel, height, width)`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close
from autograder.reference import convolution as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]

#: Without any symmetry, all entries different.
SQUARE = np.array([[1.0, -2.5], [0.75, 3.0]])
#: (2, 3)
WIDE = np.array([[1.0, -2.0, 0.5], [4.0, 3.0, -1.25]])
#: (3, 2)
TALL = np.array([[2.0, -0.5], [1.25, 4.0], [-3.0, 0.75]])


def _entries(rng: np.random.Generator, rows: int, columns: int) -> Array:
    signs = rng.choice([-1.0, 1.0], size=(rows, columns))
    sizes = rng.permutation(np.arange(1, rows * columns + 1)).reshape(rows, columns)
    return signs * (sizes / 4.0)


def _agree(student: Student, cases: list[tuple[Array, int, int]]) -> None:
    answers = [student.convolution_matrix(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(answer, reference.convolution_matrix(*case))


def test_square(student: Student, rng: np.random.Generator) -> None:
    """A square kernel on a square image: one row for each output, one column for each pixel."""
    _agree(student, [(SQUARE, 3, 3), (SQUARE, 4, 4), (_entries(rng, 3, 3), 5, 5)])


def test_rectangular_image(student: Student, rng: np.random.Generator) -> None:
    """Rectangular images are flattened row by row, on both sides of the product."""
    _agree(student, [(SQUARE, 3, 5), (SQUARE, 5, 3), (_entries(rng, 3, 3), 4, 6)])


@pytest.mark.weight(2)
def test_rectangular_kernel(student: Student, rng: np.random.Generator) -> None:
    """Wide and tall kernels on rectangular images."""
    _agree(student, [(WIDE, 4, 5), (TALL, 4, 5), (_entries(rng, 4, 2), 5, 6)])

"""Checks of `cross_correlate(image, kernel)`.

Random entries are quarters of integers: sums of products are then exact in float32 too, and an
answer that truncates to integers shows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close
from autograder.reference import convolution as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]

#: (4, 6), no two rows alike, both signs.
IMAGE = np.array(
    [
        [0.5, -2.0, 3.25, 1.0, -4.0, 2.5],
        [-1.5, 4.0, 0.25, -3.0, 2.0, 5.0],
        [3.0, -0.75, -5.0, 2.0, 6.5, -1.0],
        [2.25, 1.0, -2.0, 7.0, -0.5, 4.5],
    ]
)
#: (2, 3), without any symmetry.
WIDE = np.array([[1.0, -2.5, 0.75], [3.0, 0.5, -4.0]])
#: (3, 2)
TALL = np.array([[2.0, -0.5], [1.25, 4.0], [-3.0, 0.25]])
#: (2, 2)
SQUARE = np.array([[1.0, -3.0], [0.5, 2.0]])


def _quarters(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(-20, 21, size=shape) / 4.0


def _agree(student: Student, cases: list[tuple[Array, Array]]) -> None:
    answers = [student.cross_correlate(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(answer, reference.cross_correlate(*case))


def test_edge_detector(student: Student, rng: np.random.Generator) -> None:
    """A detector of vertical edges gives the right sign at the right place."""
    image, kernel = reference.example_image(), reference.example_kernel()
    step = float(rng.integers(2, 9))
    _agree(student, [(image, kernel), (step * image[:4, ::-1].copy(), kernel)])


@pytest.mark.weight(2)
def test_square_kernel(student: Student, rng: np.random.Generator) -> None:
    """A square kernel without symmetry slides over a rectangular image."""
    _agree(student, [(IMAGE, SQUARE), (IMAGE[:3, 1:], SQUARE), (_quarters(rng, 7, 5), _quarters(rng, 3, 3))])


@pytest.mark.weight(2)
def test_rectangular_kernel(student: Student, rng: np.random.Generator) -> None:
    """Wide and tall kernels slide over a rectangular image, rows along rows."""
    _agree(
        student,
        [(IMAGE, WIDE), (IMAGE, TALL), (_quarters(rng, 8, 6), _quarters(rng, 4, 2))],
    )


def test_kernel_too_large(student: Student, rng: np.random.Generator) -> None:
    """A kernel that exceeds the image in either direction is refused, one that just fits is not."""
    rows, columns = (int(size) for size in rng.permutation(np.arange(3, 7))[:2])
    drawn = _quarters(rng, rows, columns)
    fits = (drawn, _quarters(rng, rows, columns - 1))
    _agree(student, [(IMAGE[:2, :3], WIDE), (IMAGE[:2, :4], WIDE), fits])
    with student.rejects(ValueError):
        student.cross_correlate(IMAGE[:1, :], WIDE)
    with student.rejects(ValueError):
        student.cross_correlate(IMAGE[:, :2], WIDE)
    with student.rejects(ValueError):
        student.cross_correlate(drawn, _quarters(rng, rows + 1, columns + 1))

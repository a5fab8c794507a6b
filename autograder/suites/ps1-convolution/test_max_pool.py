"""Checks of `max_pool(feature_map, size=2)`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close
from autograder.reference import convolution as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]

#: (6, 9), without any symmetry.
MAP = np.array(
    [
        [3.0, -1.5, 7.0, 0.5, 2.0, -4.0, 6.0, 1.0, -3.0],
        [1.0, 5.5, -2.0, 4.0, 8.0, 0.25, -6.0, 2.5, 9.0],
        [-7.0, 2.0, 1.5, 10.0, -3.5, 5.0, 0.75, 4.5, -1.0],
        [6.5, -0.5, 3.5, -8.0, 1.25, 7.5, 11.0, -2.5, 0.0],
        [2.25, 4.25, -5.0, 9.5, 0.1, -1.0, 3.25, 12.0, -9.0],
        [-4.5, 8.5, 5.25, -6.5, 13.0, 2.75, -0.25, 1.75, 4.75],
    ]
)


def _entries(rng: np.random.Generator, height: int, width: int) -> Array:
    """All different, both signs."""
    ranks = rng.permutation(height * width).reshape(height, width).astype(np.float64)
    return (ranks - height * width / 2) / 4.0


def _agree(student: Student, cases: list[tuple[Array, int]]) -> None:
    answers = [student.max_pool(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(answer, reference.max_pool(*case))


@pytest.mark.weight(2)
def test_default_size(student: Student, rng: np.random.Generator) -> None:
    """The largest entry of each block, by default two by two."""
    example = reference.cross_correlate(reference.example_image(), reference.example_kernel())
    cases = [example, MAP[:4, :6], MAP[2:, :8], _entries(rng, 6, 4)]
    answers = [student.max_pool(case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(answer, reference.max_pool(case))


def test_negative_entries(student: Student, rng: np.random.Generator) -> None:
    """A map of negative entries only."""
    drawn = _entries(rng, 4, 8)
    _agree(
        student, [(-1.0 - np.abs(MAP[:4, :6]), 2), (MAP[:6, :6] - 20.0, 3), (drawn - drawn.max() - 0.5, 2)]
    )


def test_incomplete_blocks(student: Student, rng: np.random.Generator) -> None:
    """Incomplete blocks at the bottom and on the right are dropped."""
    below_zero = MAP[:5, :7] - 20.0
    cases = [(MAP[:5, :7], 2), (MAP[:4, :5], 2), (MAP[:5, :8], 3), (below_zero, 2), (_entries(rng, 7, 9), 2)]
    _agree(student, cases)


def test_other_sizes(student: Student, rng: np.random.Generator) -> None:
    """Blocks of other sizes, from a single entry to the whole map, do not overlap either."""
    whole = _entries(rng, 6, 7)
    _agree(student, [(MAP, 3), (MAP[:4, :8], 4), (_entries(rng, 8, 12), 4), (MAP, 5), (MAP, 1), (whole, 6)])


def test_no_block_fits(student: Student, rng: np.random.Generator) -> None:
    """A map too small for a single block, in either direction, is refused; one block is enough."""
    _agree(student, [(MAP[:3, :4], 3), (MAP[:3, :6], 3), (MAP[1:3, 1:3], 2)])
    with student.rejects(ValueError):
        student.max_pool(MAP[:2, :6], 3)
    with student.rejects(ValueError):
        student.max_pool(MAP[:6, :2], 3)
    height, width = (int(side) for side in rng.permutation(np.arange(2, 6))[:2])
    drawn = _entries(rng, height, width)
    _agree(student, [(drawn, min(height, width))])
    with student.rejects(ValueError):
        student.max_pool(drawn, max(height, width) + 1)

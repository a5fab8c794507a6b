"""Checks of `dense_parameters(n_in, n_out)`."""

from __future__ import annotations

import numpy as np

from autograder.exercises.compare import exact
from autograder.reference import convolution as reference
from autograder.sandbox.student import Student


def _agree(student: Student, cases: list[tuple[int, int]]) -> None:
    answers = [student.dense_parameters(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        exact(answer, reference.dense_parameters(*case))


def test_narrowing(student: Student, rng: np.random.Generator) -> None:
    """A layer with fewer units than inputs has its weights, and one bias for each unit."""
    n_out = int(rng.integers(5, 60))
    n_in = n_out + int(rng.integers(7, 90))
    _agree(student, [(784, 100), (11, 3), (n_in, n_out)])


def test_widening(student: Student, rng: np.random.Generator) -> None:
    """A layer with more units than inputs has its weights, and one bias for each unit."""
    n_in = int(rng.integers(5, 60))
    n_out = n_in + int(rng.integers(7, 90))
    _agree(student, [(784, 4704), (2, 9), (n_in, n_out)])


def test_single_unit(student: Student, rng: np.random.Generator) -> None:
    """A layer with a single unit, or a single input, follows the same rule."""
    n = int(rng.integers(6, 40))
    _agree(student, [(3, 1), (1, 4), (n, 1), (1, n + 1)])

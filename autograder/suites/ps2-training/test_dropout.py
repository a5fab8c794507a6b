"""Checks of `dropout(a, mask, p)`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close
from autograder.reference import dropout as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]

A = np.array([2.0, 4.0, 6.0, 8.0])
MASK = np.array([1.0, 0.0, 1.0, 1.0])
BATCH = np.array([[1.5, -2.0, 0.5, 4.0], [3.0, 1.0, -6.0, 2.5], [-0.75, 5.0, 7.0, -3.5]])
BATCH_MASK = np.array([[1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1.0, 0.0], [1.0, 1.0, 0.0, 0.0]])

Case = tuple[Array, Array, float]


def _drawn(rng: np.random.Generator, *shape: int) -> Case:
    """Entries without zeros or repeats; a mask that keeps some and drops some; p away from 1/2."""
    size = int(np.prod(shape))
    a = (rng.permutation(np.arange(1, 2 * size + 1))[:size] * rng.choice([-0.25, 0.25], size)).reshape(shape)
    mask = rng.permutation((np.arange(size) % 3 != 0).astype(float)).reshape(shape)
    return a, mask, float(rng.choice([0.1, 0.3, 0.6, 0.85]))


def _agree(student: Student, cases: list[Case]) -> None:
    answers = [student.dropout(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(answer, reference.dropout(*case))


@pytest.mark.weight(2)
def test_kept_and_dropped(student: Student, rng: np.random.Generator) -> None:
    """What the mask keeps is rescaled so that the mean stays, and the rest is zero."""
    _agree(student, [(A, MASK, 0.2), (A, MASK, 0.25), (A, 1 - MASK, 0.7), _drawn(rng, 5)])


def test_batches(student: Student, rng: np.random.Generator) -> None:
    """A batch of activations, with a mask for every entry."""
    _agree(student, [(BATCH, BATCH_MASK, 0.4), (BATCH.T, BATCH_MASK.T, 0.1), _drawn(rng, 2, 5)])


def test_extreme_masks(student: Student, rng: np.random.Generator) -> None:
    """Masks that keep everything, and masks that drop everything."""
    a, _, p = _drawn(rng, 6)
    _agree(student, [(A, np.ones(4), 0.2), (-A, np.zeros(4), 0.3), (a, np.ones(6), p)])


def test_impossible_probability(student: Student, rng: np.random.Generator) -> None:
    """A probability outside [0, 1) is refused; zero is not, and neither is one close to 1."""
    a, mask, _ = _drawn(rng, 5)
    _agree(student, [(A, MASK, 0.0), (A, MASK, 0.96), (a, mask, 0.0)])
    for p in (1.0, -0.1, 1.5):
        with student.rejects(ValueError):
            student.dropout(A, MASK, p)

"""Checks of `relu_gap(w, a, b, p)`: the mean of the outputs, and the output of the mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close, items
from autograder.reference import dropout as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]
Case = tuple[Array, Array, float, float]

W, A = np.array(reference.EXAMPLE_WEIGHTS), np.array(reference.EXAMPLE_ACTIVATIONS)
#: z is positive on average, and negative for some masks.
MIXED = (np.array([1.5, -2.0, 0.5]), np.array([4.0, 1.5, -1.0]), -0.5)


def _drawn(rng: np.random.Generator, n: int) -> Case:
    """A unit whose mean input is above zero, and which is off for a good part of the masks."""
    while True:
        w = rng.permutation(np.arange(1, 2 * n + 1))[:n] * rng.choice([-0.25, 0.25], n)
        a = rng.permutation(np.arange(1, 2 * n + 1))[:n] * rng.choice([-0.5, 0.5], n)
        b = float(rng.integers(1, 9)) * float(rng.choice([-0.25, 0.25]))
        p = float(rng.choice([0.15, 0.3, 0.4, 0.65]))
        first, second = reference.relu_gap(w, a, b, p)
        if second > 0.5 and first > 1.2 * second and (1 - p) * float(w @ a) + b > 0.2:
            return w, a, b, p


def _right(case: Case, place: int) -> float:
    return reference.relu_gap(*case)[place]


@pytest.mark.weight(2)
def test_mean_of_the_outputs(student: Student, rng: np.random.Generator) -> None:
    """The first number: the exact mean of the unit's outputs over all the masks."""
    cases = [(W, A, 1.0, 0.5), (W, A, 1.0, 0.25), (*MIXED, 0.3), (-W, A, -0.5, 0.8), _drawn(rng, 5)]
    answers = [student.relu_gap(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(items(answer, 2)[0], _right(case, 0), atol=1e-5)


def test_output_of_the_mean(student: Student, rng: np.random.Generator) -> None:
    """The second number: what the test network gives, which uses the activations as they are."""
    cases = [(*MIXED, 0.3), (*MIXED, 0.6), (-W, A, -0.5, 0.8), (W, A, 1.0, 0.25), _drawn(rng, 3)]
    answers = [student.relu_gap(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(items(answer, 2)[1], _right(case, 1), atol=1e-5)


def test_without_gap(student: Student, rng: np.random.Generator) -> None:
    """Both numbers where no mask switches the unit off, and where nothing is dropped."""
    positive = np.array([0.5, 1.0, 2.0])
    drawn = (rng.integers(1, 9, 4) * 0.25, rng.integers(1, 9, 4) * 0.5, 0.25, 0.35)
    cases = [(positive, positive[::-1].copy(), 0.75, 0.4), (*MIXED, 0.0), (W, A, 4.5, 0.0), drawn]
    answers = [student.relu_gap(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        first, second = items(answer, 2)
        close(first, _right(case, 0), atol=1e-5)
        close(second, _right(case, 1), atol=1e-5)


def test_impossible_probability(student: Student, rng: np.random.Generator) -> None:
    """A probability outside [0, 1) is refused, and others are not."""
    cases = [_drawn(rng, 4), (*MIXED, 0.9)]
    answers = [student.relu_gap(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(items(answer, 2)[0], _right(case, 0), atol=1e-5)
    for p in (1.0, -0.2, 1.5):
        with student.rejects(ValueError):
            student.relu_gap(*MIXED, p)

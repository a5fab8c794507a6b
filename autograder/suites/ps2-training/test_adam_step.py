"""Checks of `adam_step(theta, m, r, g, t, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8)`.

Parameters stand at or near zero, so that a wrong step is not lost beside them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close, items
from autograder.reference import optimisation as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]
#: theta, m, r, g, t, and the options.
Case = tuple[tuple[Array, Array, Array, Array, int], dict[str, float]]

FIRST: Case = ((np.zeros(2), np.zeros(2), np.zeros(2), np.array([0.01, -100.0]), 1), {})
LATER: Case = (
    (np.array([0.002, -0.001]), np.array([0.14, -0.13]), np.array([0.02, 0.03]), np.array([0.5, 0.25]), 2),
    {},
)
TENTH: Case = ((np.zeros(3), np.array([0.3, -0.2, 0.5]), np.full(3, 0.2), np.array([0.5, 1.0, -2.0]), 10), {})
TINY: Case = ((np.zeros(3), np.zeros(3), np.zeros(3), np.array([1e-8, -3e-8, 2e-9]), 1), {})
OTHERS: Case = (
    (np.zeros(2), np.array([1.0, -0.5]), np.array([2.0, 0.7]), np.array([-2.5, 3.0]), 4),
    {"lr": 0.05, "beta1": 0.6, "beta2": 0.8, "eps": 0.3},
)


def _drawn(rng: np.random.Generator, t: int, *shape: int, **options: float) -> Case:
    """Moments and gradients of order one, both signs, that do not cancel: the step is compared relatively."""
    while True:
        m, g = (rng.integers(2, 13, size=shape) * rng.choice([-0.25, 0.25], shape) for _ in range(2))
        r = rng.integers(2, 13, size=shape) / 4.0
        case = (np.zeros(shape), m, r, g, t), options
        if np.abs(reference.adam_step(*case[0], **options)[1]).min() > 0.05:
            return case


def _agree(student: Student, cases: list[Case], places: tuple[int, ...]) -> None:
    answers = [student.adam_step(*arguments, **options) for arguments, options in cases]
    for answer, (arguments, options) in zip(answers, cases, strict=True):
        got, right = items(answer, 3), reference.adam_step(*arguments, **options)
        for place in places:
            close(got[place], right[place], atol=0.0)


def test_first_step(student: Student, rng: np.random.Generator) -> None:
    """The step at t = 1, from means of zero, for large and small gradients."""
    (theta, _, _, g, _), options = _drawn(rng, 1, 3)
    _agree(student, [FIRST, ((theta, np.zeros(3), np.zeros(3), g, 1), options), OTHERS], (0,))


@pytest.mark.weight(2)
def test_later_steps(student: Student, rng: np.random.Generator) -> None:
    """The step at later t, with means that have a past."""
    _agree(student, [LATER, TENTH, _drawn(rng, int(rng.integers(3, 30)), 4)], (0,))


def test_means(student: Student, rng: np.random.Generator) -> None:
    """The two running means that are returned."""
    _agree(student, [FIRST, LATER, OTHERS, _drawn(rng, int(rng.integers(3, 30)), 2, 3)], (1, 2))


def test_tiny_gradients(student: Student, rng: np.random.Generator) -> None:
    """The place of eps, which tiny gradients and a large eps show."""
    _agree(student, [TINY, OTHERS, _drawn(rng, 3, 2, eps=0.5)], (0,))


def test_options(student: Student, rng: np.random.Generator) -> None:
    """Other learning rates and other betas than the defaults."""
    drawn = _drawn(rng, int(rng.integers(2, 9)), 5, lr=0.02, beta1=0.7, beta2=0.9)
    _agree(student, [OTHERS, drawn], (0, 1, 2))


def test_impossible_time(student: Student, rng: np.random.Generator) -> None:
    """A step counted from 0 or below is refused, and the first one is not."""
    _agree(student, [FIRST, TENTH], (0,))
    (theta, m, r, g, _), options = _drawn(rng, 1, 2)
    for t in (0, -1):
        with student.rejects(ValueError):
            student.adam_step(theta, m, r, g, t, **options)

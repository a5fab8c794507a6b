"""Checks of `healthy(gradient_norms, activations)`. No value stands on a bound of the rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import same
from autograder.reference import attention as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]
Case = tuple[Array, Array]

#: Measured at 20 blocks of attention: with pre-norm and skips, and bare.
PRENORM: Case = (np.array([0.377, 0.31, 0.29, 0.3557]), np.array([0.803, 0.88, 0.95, 1.068]))
BARE: Case = (np.array([1.142e-8, 7.5e-9, 5.4e-9, 1.237e-8]), np.array([0.104, 1.6e-4, 5.1e-7, 4.85e-9]))


def _between(rng: np.random.Generator, first: float, last: float, count: int) -> Array:
    """From `first` to `last` by equal factors, each but the ends moved by a few per cent."""
    path = np.geomspace(first, last, count)
    path[1:-1] *= rng.uniform(0.95, 1.05, count - 2)
    return path


def _agree(student: Student, cases: list[Case]) -> None:
    answers = [student.healthy(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        same(answer, reference.healthy(list(case[0]), list(case[1])))


def test_measured(student: Student, rng: np.random.Generator) -> None:
    """Stacks as they were measured: some are healthy, some look so in one column only."""
    plain = (np.array([2.485e-10, 1e-6, 1.153e-2]), np.array([0.072, 0.02, 0.015]))
    naive = (np.array([15.0, 30.0, 54.84]), np.array([0.286, 2.7, 25.077]))
    prenorm = (np.array([0.7508, 0.8, 0.7454]), np.array([0.459, 0.9, 1.421]))
    drawn = [
        (scale * norms, activations)  # near one of them, and on the same side of every bound
        for (norms, activations), scale in zip((PRENORM, BARE, naive), rng.uniform(0.5, 2.0, 3), strict=True)
    ]
    _agree(student, [PRENORM, BARE, plain, naive, prenorm, *drawn])


@pytest.mark.weight(2)
def test_gradients_level(student: Student, rng: np.random.Generator) -> None:
    """The gradients of the first and the last block, apart in either direction by more or less."""
    level = np.array([0.5, 0.6, 0.7])
    shrink, grow = float(rng.uniform(2.5, 4)), float(rng.uniform(2.5, 4))
    _agree(
        student,
        [
            (np.array([2e-3, 2e-2, 0.1]), level),
            (np.array([5e-4, 2e-2, 0.1]), level),
            (np.array([8.0, 2.0, 0.1]), level),
            (np.array([30.0, 2.0, 0.1]), level),
            (np.array([0.4, 300.0, 0.1]), level),
            *((np.array([ratio, 0.5, 1.0]), level) for ratio in (0.0105, 0.0095, 95.0, 105.0)),
            (np.array([2e-3, 0.1]), level[:2]),
            (np.array([30.0, 0.1]), level[:2]),
            (_between(rng, 10**-shrink, 1.0, 7), level),
            (_between(rng, 10**grow, 1.0, 7), level),
            (_between(rng, 10 ** (grow - 2.3), 1.0, 7), level),
        ],
    )


@pytest.mark.weight(2)
def test_gradients_alive(student: Student, rng: np.random.Generator) -> None:
    """A gradient that is too small somewhere, at either end or in the middle, and one that is not."""
    level = np.array([1.1, 0.9, 0.8, 1.2])
    small = float(rng.uniform(-9, -7))
    place = int(rng.integers(0, 4))
    drawn = np.array([0.3, 0.2, 0.4, 0.25])
    drawn *= 3e-5
    spoiled = drawn.copy()
    spoiled[place] = 10**small * 20
    _agree(
        student,
        [
            (np.full(4, 3e-6), level),
            (np.full(4, 3e-7), level),
            (np.array([2e-5, 4e-7, 1e-5, 2e-5]), level),
            (np.array([4e-7, 2e-5, 1e-5, 1.5e-5]), level),
            (np.array([1.5e-5, 2e-5, 1e-5, 4e-7]), level),
            (np.array([2e-5, 4e-6, 1e-5, 2e-5]), level),
            (np.array([3e-7, 2e-6, 3e-7, 3e-7]), level),
            (np.array([0.3, 2e-8, 0.2, 0.4]), level),
            (np.array([3e-6, 1.05e-6, 2e-6, 3e-6]), level),
            (np.array([3e-6, 0.95e-6, 2e-6, 3e-6]), level),
            (drawn, level),
            (spoiled, level),
        ],
    )


@pytest.mark.weight(2)
def test_activations_level(student: Student, rng: np.random.Generator) -> None:
    """The activations of the first and the last block, apart in either direction by more or less."""
    gradients = np.array([0.3, 0.5, 0.4])
    factor = float(rng.uniform(1.3, 3))
    _agree(
        student,
        [
            (gradients, np.array([0.5, 1.0, 3.5])),
            (gradients, np.array([0.5, 2.0, 20.0])),
            (gradients, np.array([0.5, 0.2, 0.08])),
            (gradients, np.array([0.5, 0.1, 0.02])),
            (gradients, np.array([1e-4, 2e-4, 3e-4])),
            (gradients, np.array([0.5, 40.0, 0.7])),
            (gradients[:2], np.array([0.5, 20.0])),
            *((gradients, np.array([1.0, 0.8, ratio])) for ratio in (0.105, 0.095, 9.5, 10.5)),
            (gradients, np.array([20.0, 60.0, 50.0])),
            (gradients, _between(rng, 1.0, 10**factor, 6)),
            (gradients, _between(rng, 1.0, 10**-factor, 6)),
            (gradients, _between(rng, 1.0, 10 ** (factor / 4), 6)),
        ],
    )

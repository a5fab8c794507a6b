"""Checks of `momentum_iterations(lr, beta)`.

A count is only asked for where rounding cannot change it: no norm before the end comes near the
threshold, nor does the last one.
"""

from __future__ import annotations

import numpy as np
import pytest

from autograder.exercises.compare import close, exact, same
from autograder.reference import optimisation as reference
from autograder.sandbox.student import Student

PLAIN = (0.019, 0.0)
HEAVY = (0.019, 0.9)
#: Nearly ten thousand iterations.
SLOW = (0.0007, 0.0)
BEST = (reference.BEST_LR, reference.BEST_BETA)


def _firm(lr: float, beta: float) -> bool:
    """Whether the count stays the same when every norm is off by a part in two thousand.

    Rounding in float32 moves a norm by some parts in a hundred thousand at most.
    """
    count = reference.momentum_iterations(lr, beta)
    if count is None:
        return False
    norms = reference.momentum_norms(lr, beta, count)
    return all(abs(norm / reference.TOLERANCE - 1.0) > 5e-4 for norm in norms)


def _drawn(rng: np.random.Generator, beta: float) -> tuple[float, float]:
    while True:
        lr = float(rng.uniform(0.006, 0.018))
        if _firm(lr, beta):
            return lr, beta


def _count(lr: float, beta: float) -> int:
    count = reference.momentum_iterations(lr, beta)
    assert count is not None
    return count


def _agree(student: Student, cases: list[tuple[float, float]]) -> None:
    answers = [student.momentum_iterations(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        exact(answer, _count(*case))


def test_plain_descent(student: Student, rng: np.random.Generator) -> None:
    """The count without momentum."""
    _agree(student, [PLAIN, (0.012, 0.0), (0.0042, 0.0), _drawn(rng, 0.0)])


@pytest.mark.weight(2)
def test_with_momentum(student: Student, rng: np.random.Generator) -> None:
    """The count with momentum."""
    _agree(student, [HEAVY, (0.01, 0.5), _drawn(rng, 0.9), _drawn(rng, float(rng.choice([0.3, 0.6, 0.8])))])


def test_best_pair(student: Student, rng: np.random.Generator) -> None:
    """The count at the best pair of the valley, and at another."""
    _agree(student, [BEST, _drawn(rng, 0.7)])


def test_never(student: Student, rng: np.random.Generator) -> None:
    """None where it diverges or would take more than ten thousand iterations; elsewhere a count."""
    _agree(student, [PLAIN, (0.001, 0.0), _drawn(rng, 0.0)])
    # Here a step changes the norm so little that rounding may move the count by one or two.
    close(student.momentum_iterations(*SLOW), _count(*SLOW), rtol=0.0, atol=20.0)
    for case in ((0.021, 0.0), (0.0005, 0.0)):
        same(student.momentum_iterations(*case), None)

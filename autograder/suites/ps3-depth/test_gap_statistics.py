"""Checks of `gap_statistics(plain, prenorm)`, accuracies of several seeds."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.exercises.compare import close, items
from autograder.reference.depth import gap_statistics
from autograder.sandbox.student import Student

SEEDS = ([0.431, 0.389, 0.200], [0.584, 0.651, 0.624])
TWO = ([0.40, 0.30], [0.65, 0.45])
Pair = tuple[list[float], list[float]]


def _probes(rng: np.random.Generator) -> list[Pair]:
    plain, prenorm = rng.uniform(0.2, 0.5, 5).round(3), rng.uniform(0.5, 0.9, 5).round(3)
    return [SEEDS, TWO, ([float(v) for v in plain], [float(v) for v in prenorm])]


def _ask(student: Student, rng: np.random.Generator, place: int) -> None:
    for plain, prenorm in _probes(rng):
        answer: list[Any] = items(student.gap_statistics(plain, prenorm), 3)
        close(answer[place], gap_statistics(plain, prenorm)[place])


def test_gap(student: Student, rng: np.random.Generator) -> None:
    """The gap between the two means, positive when pre-norm leads."""
    _ask(student, rng, 0)
    plain, prenorm = SEEDS
    close(items(student.gap_statistics(prenorm, plain), 3)[0], gap_statistics(prenorm, plain)[0])


def test_noise(student: Student, rng: np.random.Generator) -> None:
    """The seed noise: both standard deviations (divided by n), added in quadrature."""
    _ask(student, rng, 1)


def test_ratio(student: Student, rng: np.random.Generator) -> None:
    """How many times the noise fits into the gap."""
    _ask(student, rng, 2)

"""Checks of `sample_next(logits, tau, u)`. Drawn numbers u stay away from the boundaries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import exact
from autograder.reference import sampling as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]
Case = tuple[Array, float, float]

#: Neither increasing nor decreasing. At temperature 1: 0.0986, 0.6590, 0.2424.
LOGITS = np.array([0.1, 2.0, 1.0])
OTHER = np.array([1.0, -0.5, 0.75, 1.5, -1.0])

#: A float32 cumulative sum is off by 1e-6 at most.
MARGIN = 1e-3


def _agree(student: Student, cases: list[Case]) -> None:
    answers = [student.sample_next(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        exact(answer, reference.sample_next(*case))


def _inside(logits: Array, tau: float, index: int, share: float) -> float:
    """The u at `share`, between 0 and 1, of the interval of a word."""
    edges = np.concatenate([[0.0], reference.boundaries(logits, tau)])
    low, high = float(edges[index]), float(edges[index + 1])
    assert high - low > 4 * MARGIN
    return low + MARGIN + share * (high - low - 2 * MARGIN)


def _every_word(logits: Array, tau: float, share: float) -> list[Case]:
    return [(logits, tau, _inside(logits, tau, index, share)) for index in range(len(logits))]


@pytest.mark.weight(2)
def test_every_word(student: Student, rng: np.random.Generator) -> None:
    """Every word of the vocabulary is found in its place, at temperature one."""
    drawn = rng.permutation(np.arange(-3, 4)) / 2.0
    cases = _every_word(LOGITS, 1.0, 0.5) + _every_word(OTHER, 1.0, 0.2)
    _agree(student, cases + _every_word(drawn, 1.0, float(rng.uniform(0.1, 0.9)))[1:6])


def test_temperatures(student: Student, rng: np.random.Generator) -> None:
    """The temperature changes the law from which the word is taken."""
    tau = int(rng.integers(15, 40)) / 10
    cases = [
        (LOGITS, 0.4, 0.06),
        (LOGITS, 0.4, 0.88),
        (LOGITS, 4.0, 0.25),
        (LOGITS, 4.0, 0.70),
        (OTHER, 0.3, 0.5),
    ]
    _agree(student, cases + _every_word(OTHER, tau, float(rng.uniform(0.02, 0.98))))


def test_ends_of_the_intervals(student: Student, rng: np.random.Generator) -> None:
    """Numbers just inside the ends of a word's interval."""
    index = int(rng.integers(1, 4))
    fixed = [(LOGITS, 1.0, _inside(LOGITS, 1.0, i, share)) for i in range(3) for share in (0.0, 1.0)]
    drawn = [(OTHER, 1.5, _inside(OTHER, 1.5, index, share)) for share in (0.0, 1.0)]
    _agree(student, [*fixed[:-1], *drawn])


def test_boundaries(student: Student, rng: np.random.Generator) -> None:
    """A number exactly on a boundary goes to the next word; zero goes to the first."""
    level = float(rng.integers(-3, 4))
    two, four = np.full(2, level), np.full(4, 1.5)
    equal = [(two, 1.0, 0.5), (two, 2.0, 0.0), (four, 1.0, 0.25), (four, 0.5, 0.75), (four, 2.0, 0.5)]
    _agree(student, [*equal, (LOGITS, 1.0, 0.3), (OTHER, 1.0, 0.0)])


def test_large_logits(student: Student, rng: np.random.Generator) -> None:
    """Logits of a thousand and low temperatures overflow nothing."""
    large = LOGITS + 1000.0
    share = float(rng.uniform(0.1, 0.9))
    _agree(
        student,
        [
            *_every_word(large, 1.0, share),
            *_every_word(LOGITS / 500 + 4.0, 0.002, 0.4),
            (large, 1.0, 0.3),
            (-large, 1.0, 0.9),
        ],
    )


def test_impossible_temperatures(student: Student, rng: np.random.Generator) -> None:
    """A temperature of zero or below is refused, and a small one is not."""
    tau = int(rng.integers(2, 9)) / 10
    _agree(student, [(LOGITS, 0.3, 0.005), (LOGITS, 0.3, 0.5), *_every_word(LOGITS, tau + 0.3, 0.5)])
    for impossible in (0.0, -1.0, -tau):
        with student.rejects(ValueError):
            student.sample_next(LOGITS, impossible, 0.5)

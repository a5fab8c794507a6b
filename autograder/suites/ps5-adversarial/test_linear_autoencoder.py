"""Checks of `linear_autoencoder(X, k)`.

The data are far from centred, and their singular values are well apart: the best reconstruction is
unique, and float32 finds it. Codes are compared by the projection on their columns, which does not
depend on the basis.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close, items
from autograder.reference import autoencoder as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]
Case = tuple[Array, int]

#: The fixed probes: the same for every course.
FIXED = 60
#: More than any right code holds: to accept numbers of any size, in the right shape.
_ANY = 1e12


def _data(rng: np.random.Generator, n: int, d: int) -> Array:
    """(n, d), with a mean, with singular values that fall by a third at each step, in no axis' direction."""
    rank = min(n - 1, d)
    scores = rng.normal(size=(n, rank))
    left, _ = np.linalg.qr(scores - scores.mean(axis=0))
    right, _ = np.linalg.qr(rng.normal(size=(d, rank)))
    values = 6.0 * (2.0 / 3.0) ** np.arange(rank)
    mean = rng.uniform(1.0, 3.0, size=d) * rng.choice([-1.0, 1.0], size=d)
    data: Array = (left * values) @ right.T + mean
    return data


def _cases(rng: np.random.Generator) -> list[Case]:
    fixed = np.random.default_rng(FIXED)
    return [
        (_data(fixed, 9, 5), 2),
        (_data(fixed, 12, 4), 3),
        (_data(fixed, 5, 8), 2),
        (_data(rng, 11, 6), int(rng.integers(2, 5))),
    ]


def _agree_reconstruction(student: Student, cases: list[Case]) -> None:
    answers = [student.linear_autoencoder(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(items(answer, 2)[1], reference.linear_autoencoder(*case)[1], atol=1e-4)


@pytest.mark.weight(2)
def test_reconstruction(student: Student, rng: np.random.Generator) -> None:
    """The reconstruction is the best one, with the mean in its place."""
    _agree_reconstruction(student, _cases(rng))


@pytest.mark.weight(2)
def test_codes(student: Student, rng: np.random.Generator) -> None:
    """The codes hold what the best encoder keeps of each example, in any basis."""
    cases = _cases(rng)
    answers = [student.linear_autoencoder(*case) for case in cases]
    for answer, (X, k) in zip(answers, cases, strict=True):
        codes = items(answer, 2)[0]
        close(codes, np.zeros((len(X), k)), atol=_ANY)  # numbers, finite, one row an example
        given = np.asarray(codes, dtype=np.float64).reshape(len(X), k)
        right = reference.linear_autoencoder(X, k)[0]
        close(reference.code_projection(given), reference.code_projection(right), atol=1e-3)


def test_one_unit_and_all(student: Student, rng: np.random.Generator) -> None:
    """One unit keeps one direction, and as many units as columns lose nothing."""
    fixed = np.random.default_rng(FIXED + 1)
    cases = [(_data(fixed, 7, 4), 1), (_data(fixed, 8, 3), 3), (_data(rng, 9, 5), 1), (_data(rng, 8, 4), 4)]
    _agree_reconstruction(student, cases)


def test_no_unit(student: Student, rng: np.random.Generator) -> None:
    """A code of no number is refused, and one of a single number is not."""
    X, other = _data(rng, 9, 5), _data(rng, 7, 3)
    _agree_reconstruction(student, [(X, 1), (other, 1)])
    for data, k in ((X, 0), (other, -1)):
        with student.rejects(ValueError):
            student.linear_autoencoder(data, k)


def test_too_many_units(student: Student, rng: np.random.Generator) -> None:
    """More units than columns are refused, and as many are not."""
    X, other = _data(rng, 9, 5), _data(rng, 7, 3)
    _agree_reconstruction(student, [(X, 5), (other, 3)])
    for data, k in ((X, 6), (other, 5)):
        with student.rejects(ValueError):
            student.linear_autoencoder(data, k)

"""Checks of `attacked_accuracy(w, b, X, y, eps)`.

No attacked score is near zero: on which side of it rounding would leave an example is nobody's fault.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close
from autograder.reference import adversarial as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]
Labels = np.ndarray[Any, np.dtype[np.int64]]
Examples = tuple[Array, float, Array, Labels]

#: The fixed probes: the same for every course.
FIXED = 50
#: No score comes nearer to zero than this, for any eps that is asked.
GAP = 1e-3


def _examples(rng: np.random.Generator, n: int, d: int, eps: tuple[float, ...]) -> Examples:
    """A classifier with a bias that matters, mostly right, and more examples of one class."""
    while True:
        w = rng.uniform(0.3, 2.0, size=d) * rng.choice([-1.0, 1.0], size=d)
        b = float(rng.uniform(0.6, 1.6)) * float(rng.choice([-1.0, 1.0]))
        X = rng.normal(size=(n, d)) * 1.3 + 0.3
        scores = X @ w + b
        y = np.where(rng.random(n) < 0.15, scores < 0, scores > 0).astype(np.int64)
        moves = np.array([sign * one * np.abs(w).sum() for one in eps for sign in (-1, 0, 1)])
        if np.abs(scores[:, None] + moves).min() > GAP and 0.25 < y.mean() < 0.45:
            return w, b, X, y


def _agree(student: Student, cases: list[tuple[Examples, float]]) -> None:
    answers = [student.attacked_accuracy(*examples, eps) for examples, eps in cases]
    for answer, (examples, eps) in zip(answers, cases, strict=True):
        close(answer, reference.attacked_accuracy(*examples, eps))


def test_without_attack(student: Student, rng: np.random.Generator) -> None:
    """With an eps of zero it is the usual accuracy."""
    fixed = np.random.default_rng(FIXED)
    probes = [_examples(fixed, 29, 4, (0.0,)), _examples(fixed, 17, 3, (0.0,)), _examples(rng, 23, 5, (0.0,))]
    _agree(student, [(probe, 0.0) for probe in probes])


@pytest.mark.weight(2)
def test_attacked(student: Student, rng: np.random.Generator) -> None:
    """Each image is attacked with its own label, then classified."""
    fixed = np.random.default_rng(FIXED + 1)
    sizes = (0.15, 0.3, 0.2)
    probes = [
        _examples(fixed, 43, 5, sizes[:1]),
        _examples(fixed, 31, 3, sizes[1:2]),
        _examples(rng, 37, 4, sizes[2:]),
    ]
    _agree(student, list(zip(probes, sizes, strict=True)))


def test_more_and_more(student: Student, rng: np.random.Generator) -> None:
    """As eps grows the same images are classified worse and worse, down to not at all."""
    sizes = (0.0, 0.07, 0.22, 0.5, 5.0)
    probe = _examples(rng, 41, 4, sizes)
    _agree(student, [(probe, eps) for eps in sizes])


def test_negative_eps(student: Student, rng: np.random.Generator) -> None:
    """A negative eps is refused, and its opposite is not."""
    probe = _examples(rng, 19, 3, (0.1, 0.6))
    _agree(student, [(probe, 0.1), (probe, 0.6)])
    for eps in (-0.1, -0.6):
        with student.rejects(ValueError):
            student.attacked_accuracy(*probe, eps)


def test_impossible_label(student: Student, rng: np.random.Generator) -> None:
    """Labels of which one is neither 0 nor 1 are refused, and the same ones mended are not."""
    w, b, X, y = probe = _examples(rng, 19, 3, (0.1, 0.6))
    _agree(student, [(probe, 0.1), (probe, 0.6)])
    for label in (2, -1, 0.5):
        spoiled = y.astype(np.float64)
        spoiled[int(rng.integers(19))] = label
        with student.rejects(ValueError):
            student.attacked_accuracy(w, b, X, spoiled, 0.1)

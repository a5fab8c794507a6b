"""Checks of `batch_norm(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5)`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close, items
from autograder.reference import normalisation as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]
#: x, gamma, beta, running mean, running variance, training; and the options.
Case = tuple[tuple[Array, Array, Array, Array, Array, bool], dict[str, float]]

X = np.array([[1.0, -2.0, 0.5], [2.5, 0.0, 4.0], [-0.5, 1.0, 3.0], [3.0, -4.0, -1.5]])
GAMMA, BETA = np.array([1.5, -0.5, 2.0]), np.array([0.25, 1.0, -0.75])
MEAN, VAR = np.array([0.5, 2.0, -1.0]), np.array([2.0, 0.25, 3.0])
NEARLY_CONSTANT = np.array([[0.004, 0.002], [-0.004, 0.001], [0.002, -0.003], [-0.002, 0.0], [0.0, 0.0]])


def _fixed(training: bool, **options: float) -> Case:
    return (X, GAMMA, BETA, MEAN, VAR, training), options


def _drawn(rng: np.random.Generator, batch: int, features: int, training: bool, **options: float) -> Case:
    x = rng.normal(0.5, 2.0, size=(batch, features)).round(2)
    gamma = rng.integers(2, 9, size=features) * rng.choice([-0.25, 0.25], features)
    beta, mean = (rng.integers(1, 9, size=features) * rng.choice([-0.25, 0.25], features) for _ in range(2))
    return (x, gamma, beta, mean, rng.integers(2, 17, size=features) / 4.0, training), options


def _agree(student: Student, cases: list[Case], places: tuple[int, ...]) -> None:
    answers = [student.batch_norm(*arguments, **options) for arguments, options in cases]
    for answer, (arguments, options) in zip(answers, cases, strict=True):
        got, right = items(answer, 3), reference.batch_norm(*arguments, **options)
        for place in places:
            close(got[place], right[place], atol=1e-5)


@pytest.mark.weight(2)
def test_training_output(student: Student, rng: np.random.Generator) -> None:
    """In training, each feature is normalised by its own statistics over the batch."""
    _agree(student, [_fixed(True), _drawn(rng, 5, 2, True), _drawn(rng, 2, 4, True)], (0,))


def test_running_mean(student: Student, rng: np.random.Generator) -> None:
    """In training, the running mean moves towards that of the batch."""
    _agree(student, [_fixed(True), _fixed(True, momentum=0.3), _drawn(rng, 5, 2, True)], (1,))


def test_running_variance(student: Student, rng: np.random.Generator) -> None:
    """In training, the running variance moves towards the unbiased one of the batch."""
    _agree(student, [_fixed(True), _fixed(True, momentum=0.3), _drawn(rng, 3, 4, True)], (2,))


@pytest.mark.weight(2)
def test_evaluation(student: Student, rng: np.random.Generator) -> None:
    """Out of training, the running statistics normalise, and they come back as they were."""
    cases = [_fixed(False), _fixed(False, momentum=0.7), _drawn(rng, 2, 3, False), _drawn(rng, 1, 4, False)]
    _agree(student, cases, (0, 1, 2))


def test_eps(student: Student, rng: np.random.Generator) -> None:
    """The place of eps, which nearly constant features and a large eps show."""
    nearly: Case = ((NEARLY_CONSTANT, GAMMA[:2], BETA[1:], MEAN[:2], VAR[:2], True), {})
    cases = [nearly, _fixed(True, eps=0.5), _fixed(False, eps=0.5), _drawn(rng, 4, 3, True, eps=0.8)]
    _agree(student, cases, (0, 2))

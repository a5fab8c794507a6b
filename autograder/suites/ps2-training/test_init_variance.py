"""Checks of `init_variance(scheme, k, c_in, c_out)`."""

from __future__ import annotations

import numpy as np

from autograder.exercises.compare import close
from autograder.reference import initialisation as reference
from autograder.sandbox.student import Student

Case = tuple[str, int, int, int]


def _sizes(rng: np.random.Generator) -> tuple[int, int, int]:
    c_in, c_out = (int(size) for size in rng.permutation(np.arange(6, 60))[:2])
    return int(rng.choice([2, 4, 5, 7])), c_in, c_out


def _agree(student: Student, cases: list[Case]) -> None:
    answers = [student.init_variance(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        close(answer, reference.init_variance(*case), atol=0.0)


def test_xavier(student: Student, rng: np.random.Generator) -> None:
    """The variance of Xavier's scheme, for convolutions and dense layers."""
    cases = [("xavier", 3, 16, 32), ("xavier", 1, 64, 64), ("xavier", 5, 6, 3), ("xavier", *_sizes(rng))]
    _agree(student, cases)


def test_he(student: Student, rng: np.random.Generator) -> None:
    """The variance of He's scheme, for convolutions and dense layers."""
    _agree(student, [("he", 3, 16, 32), ("he", 5, 3, 6), ("he", 1, 50, 20), ("he", *_sizes(rng))])


def test_torch(student: Student, rng: np.random.Generator) -> None:
    """The variance of torch's default scheme, for convolutions and dense layers."""
    cases = [("torch", 3, 16, 32), ("torch", 1, 784, 100), ("torch", 5, 3, 6), ("torch", *_sizes(rng))]
    _agree(student, cases)


def test_unknown_scheme(student: Student, rng: np.random.Generator) -> None:
    """A scheme that is not one of the three is refused, and the three are not."""
    sizes = _sizes(rng)
    _agree(student, [("xavier", *sizes), ("he", *sizes), ("torch", *sizes)])
    for scheme in ("lecun", "normal", "", "heavy", "xavier_uniform"):
        with student.rejects(ValueError):
            student.init_variance(scheme, *sizes)

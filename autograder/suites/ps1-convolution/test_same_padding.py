"""Checks of `same_padding(k)`."""

from __future__ import annotations

import numpy as np

from autograder.exercises.compare import exact
from autograder.reference import convolution as reference
from autograder.sandbox.student import Student


def test_odd_windows(student: Student, rng: np.random.Generator) -> None:
    """The padding on each side keeps the side of the image for odd windows."""
    cases = [3, 5, 11, 2 * int(rng.integers(6, 400)) + 1]
    answers = [student.same_padding(k) for k in cases]
    for answer, k in zip(answers, cases, strict=True):
        exact(answer, reference.same_padding(k))


def test_one_pixel(student: Student, rng: np.random.Generator) -> None:
    """A window of a single pixel, beside larger ones, needs what the formula says."""
    cases = [1, 7, 2 * int(rng.integers(6, 40)) + 1]
    answers = [student.same_padding(k) for k in cases]
    for answer, k in zip(answers, cases, strict=True):
        exact(answer, reference.same_padding(k))


def test_even_windows(student: Student, rng: np.random.Generator) -> None:
    """Even windows are refused while their odd neighbours are not."""
    half = int(rng.integers(6, 40))
    cases = [3, 5, 2 * half + 1]
    answers = [student.same_padding(k) for k in cases]
    for answer, k in zip(answers, cases, strict=True):
        exact(answer, reference.same_padding(k))
    for k in (4, 2, 2 * half):
        with student.rejects(ValueError):
            student.same_padding(k)


def test_no_window(student: Student, rng: np.random.Generator) -> None:
    """A window below one pixel is refused, even when its size is odd."""
    odd = 2 * int(rng.integers(6, 40)) + 1
    for answer, k in [(student.same_padding(k), k) for k in (3, 9, odd)]:
        exact(answer, reference.same_padding(k))
    for k in (-1, -3, 0, -odd):
        with student.rejects(ValueError):
            student.same_padding(k)

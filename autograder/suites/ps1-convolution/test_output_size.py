"""Checks of `output_size(n, k, padding=0, stride=1)`."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.exercises.compare import exact
from autograder.reference import convolution as reference
from autograder.sandbox.student import Student


def _agree(student: Student, cases: list[tuple[int, ...]]) -> None:
    answers = [student.output_size(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        exact(answer, reference.output_size(*case))


def test_window_alone(student: Student, rng: np.random.Generator) -> None:
    """Without padding and with a stride of one, the side counts the positions of the window."""
    k = int(rng.integers(2, 9))
    n = k + int(rng.integers(3, 40))
    _agree(student, [(6, 3), (28, 5), (5, 5), (n, k)])


def test_padding(student: Student, rng: np.random.Generator) -> None:
    """The padding enlarges the image on both sides."""
    k = int(rng.integers(2, 9))
    n = k + int(rng.integers(5, 40))
    padding = int(rng.integers(1, 6))
    fixed = [(28, 5, 2), (9, 4, 3), (2, 5, 2)]
    answers = [student.output_size(*case) for case in fixed]
    answers.append(student.output_size(n, k, padding=padding))
    for answer, case in zip(answers, [*fixed, (n, k, padding)], strict=True):
        exact(answer, reference.output_size(*case))


def test_stride(student: Student, rng: np.random.Generator) -> None:
    """The stride divides the distance that the window can travel, rounded down."""
    stride = int(rng.integers(3, 7))
    k = stride + int(rng.integers(1, 5))
    steps = int(rng.integers(3, 9))
    n = k + steps * stride + int(rng.integers(1, stride))
    fixed = [(7, 3, 0, 2), (227, 11, 0, 4), (8, 3, 0, 4), (10, 4, 0, 5)]
    answers = [student.output_size(*case) for case in fixed]
    answers.append(student.output_size(n, k, stride=stride))
    for answer, case in zip(answers, [*fixed, (n, k, 0, stride)], strict=True):
        exact(answer, reference.output_size(*case))


@pytest.mark.weight(2)
def test_padding_and_stride(student: Student, rng: np.random.Generator) -> None:
    """Padding and stride together, with every size different."""
    padding, stride, k, shift = (int(size) for size in rng.permutation(np.arange(2, 9))[:4])
    n = 3 * k + stride * 4 + shift
    _agree(student, [(224, 7, 3, 2), (10, 3, 1, 3), (13, 6, 1, 4), (n, k, padding, stride)])


def test_window_too_large(student: Student, rng: np.random.Generator) -> None:
    """A window that exceeds the padded image is refused, and one that just fits is not."""
    k, extra = (int(size) for size in rng.integers(6, 200, 2))
    _agree(student, [(6, 5), (5, 5), (3, 6, 2), (k + extra, k)])
    with student.rejects(ValueError):
        student.output_size(4, 5)
    with student.rejects(ValueError):
        student.output_size(3, 8, 2, 3)
    with student.rejects(ValueError):
        student.output_size(k - 3, k, padding=1)


def test_impossible_numbers(student: Student, rng: np.random.Generator) -> None:
    """A side, window or stride below one and a negative padding are refused."""
    n = int(rng.integers(9, 30))
    _agree(student, [(7, 1), (6, 3, 0, 1), (n, 3, 1, 1)])
    with student.rejects(ValueError):
        student.output_size(7, 0)
    with student.rejects(ValueError):
        student.output_size(7, 3, 0, 0)
    with student.rejects(ValueError):
        student.output_size(7, 3, -1, 1)
    with student.rejects(ValueError):
        student.output_size(n, -2, 1, 1)
    with student.rejects(ValueError):
        student.output_size(n, 3, 1, -1)
    with student.rejects(ValueError):
        student.output_size(0, 1, 2, 1)

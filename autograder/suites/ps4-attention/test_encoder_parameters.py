"""Checks of `encoder_parameters(d, h, d_ff, n_blocks)`. Sizes stay small enough to build the layers."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.exercises.compare import exact
from autograder.reference import attention as reference
from autograder.sandbox.student import Student


def _agree(student: Student, cases: list[tuple[int, int, int, int]]) -> None:
    answers = [student.encoder_parameters(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        exact(answer, reference.encoder_parameters(*case))


@pytest.mark.weight(2)
def test_one_block(student: Student, rng: np.random.Generator) -> None:
    """One block: its attention, its dense layers and its norms."""
    h = int(rng.integers(2, 6))
    d = h * int(rng.integers(3, 9))
    _agree(student, [(8, 2, 16, 1), (12, 3, 20, 1), (10, 5, 7, 1), (d, h, 3 * d + 1, 1)])


def test_several_blocks(student: Student, rng: np.random.Generator) -> None:
    """Several blocks, each with parameters of its own."""
    n_blocks = int(rng.integers(3, 7))
    _agree(student, [(512, 8, 2048, 6), (16, 4, 16, 2), (12, 2, 30, n_blocks)])


def test_numbers_of_heads(student: Student, rng: np.random.Generator) -> None:
    """One head, several heads, and as many heads as the words have entries."""
    d_ff = int(rng.integers(9, 40))
    _agree(student, [(12, 1, 20, 2), (12, 4, 25, 3), (6, 6, d_ff, 1)])


def test_heads_that_do_not_divide(student: Student, rng: np.random.Generator) -> None:
    """A number of heads that does not divide the width is refused, and one that does is not."""
    h = int(rng.integers(3, 8))
    _agree(student, [(12, 6, 16, 1), (10, 2, 12, 2), (3 * h, h, 14, 1)])
    for d, heads in ((6, 12), (512, 7), (10, 4), (3 * h + 1, h)):
        with student.rejects(ValueError):
            student.encoder_parameters(d, heads, 16, 2)

"""Checks of the hand values of the shifted example: `shifted_first_row`, `shifted_pooled`."""

from __future__ import annotations

import numpy as np

from autograder.exercises.compare import close
from autograder.reference import convolution as reference
from autograder.sandbox.student import Student


def test_first_row(student: Student, rng: np.random.Generator) -> None:
    """The first row of the map follows the image when it moves by one column."""
    close(student.value("shifted_first_row"), reference.shifted_first_row())


def test_pooled(student: Student, rng: np.random.Generator) -> None:
    """The pooled map of the moved image."""
    close(student.value("shifted_pooled"), reference.shifted_pooled())

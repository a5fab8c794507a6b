"""Checks of the hand computation: `weights_by_hand`, `output_by_hand`."""

from __future__ import annotations

import numpy as np

from autograder.exercises.compare import close
from autograder.reference import attention as reference
from autograder.sandbox.student import Student


def test_weights(student: Student, rng: np.random.Generator) -> None:
    """The weight of each of the three words."""
    close(student.value("weights_by_hand"), [float(one) for one in reference.weights_by_hand()])


def test_output(student: Student, rng: np.random.Generator) -> None:
    """The output, a mean of the values under these weights."""
    close(student.value("output_by_hand"), [float(one) for one in reference.output_by_hand()])

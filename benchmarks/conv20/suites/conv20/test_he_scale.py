from __future__ import annotations

import numpy as np

from autograder.exercises.compare import close
from autograder.sandbox.student import Student


def test_value(student: Student, rng: np.random.Generator) -> None:
    """The standard deviation that keeps the second moment of ReLU layers."""
    channels, k = int(rng.integers(4, 64)), int(rng.integers(2, 8))
    close(student.he_scale(channels, k), np.sqrt(2 / (channels * k * k)))


def test_one_pixel(student: Student, rng: np.random.Generator) -> None:
    """A kernel of one pixel sees its channels only."""
    channels = int(rng.integers(4, 64))
    close(student.he_scale(channels, 1), np.sqrt(2 / channels))

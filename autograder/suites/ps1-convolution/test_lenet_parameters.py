"""Checks of the dict `lenet_parameters`: the counts of the simplified LeNet."""

from __future__ import annotations

import numpy as np

from autograder.exercises.compare import entries, exact
from autograder.reference import convolution as reference
from autograder.sandbox.student import Student


def _agree(student: Student, keys: list[str]) -> None:
    counts = entries(student.value("lenet_parameters"), keys)
    right = reference.lenet_parameters()
    for key in keys:
        exact(counts[key], right[key])


def test_convolutions(student: Student, rng: np.random.Generator) -> None:
    """The two convolutions: each filter reads all the maps before it."""
    _agree(student, ["C1", "C2"])


def test_first_dense_layer(student: Student, rng: np.random.Generator) -> None:
    """The first dense layer: the number of its inputs follows from the sizes of the maps."""
    _agree(student, ["F1"])


def test_last_dense_layers(student: Student, rng: np.random.Generator) -> None:
    """The two last dense layers."""
    _agree(student, ["F2", "F3"])


def test_total(student: Student, rng: np.random.Generator) -> None:
    """The total over the whole network."""
    _agree(student, ["total"])

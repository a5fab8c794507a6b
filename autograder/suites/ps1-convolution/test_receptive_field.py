"""Checks of `receptive_field(layers)`; layers are [kernel, stride] pairs, input first."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.exercises.compare import exact
from autograder.reference import convolution as reference
from autograder.sandbox.student import Student

Layers = list[list[int]]


def _agree(student: Student, cases: list[Layers]) -> None:
    answers = [student.receptive_field(case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        exact(answer, reference.receptive_field(case))


def test_stride_one(student: Student, rng: np.random.Generator) -> None:
    """Convolutions with a stride of one, of equal and of different kernels."""
    drawn = [[int(kernel), 1] for kernel in rng.permutation(np.arange(2, 10))[:4]]
    _agree(student, [[[5, 1]], [[3, 1], [3, 1]], [[7, 1], [1, 1], [2, 1], [4, 1]], drawn])


def test_one_pooling(student: Student, rng: np.random.Generator) -> None:
    """A layer with a stride counts, and enlarges the steps of the layers after it."""
    a, b, c = (int(kernel) for kernel in rng.permutation(np.arange(2, 8))[:3])
    _agree(
        student,
        [
            [[3, 1], [3, 1], [2, 2], [3, 1]],
            [[5, 1], [3, 3], [4, 1], [2, 1]],
            [[a, 1], [b, b], [c, 1]],
        ],
    )


@pytest.mark.weight(2)
def test_several_strides(student: Student, rng: np.random.Generator) -> None:
    """The strides of all the layers before multiply."""
    kernels = rng.permutation(np.arange(2, 9))[:4]
    strides = rng.permutation(np.array([1, 2, 3, 4]))
    drawn = [[int(kernel), int(stride)] for kernel, stride in zip(kernels, strides, strict=True)]
    _agree(
        student,
        [
            [[7, 2], [3, 2], [3, 1], [3, 1]],
            [[3, 1], [2, 2], [3, 1], [2, 2], [3, 1]],
            [[4, 3], [5, 2], [2, 5], [6, 1]],
            drawn,
        ],
    )


def test_last_stride(student: Student, rng: np.random.Generator) -> None:
    """A layer's own stride does not enlarge its own window."""
    kernel, stride = (int(size) for size in rng.permutation(np.arange(2, 9))[:2])
    _agree(student, [[[11, 4]], [[3, 2], [5, 3]], [[3, 1], [kernel, stride]]])


def test_no_layer(student: Student, rng: np.random.Generator) -> None:
    """Without any layer a unit sees itself; a layer is added to that."""
    kernel = int(rng.integers(4, 400))
    _agree(student, [[[1, 1]], [[2, 1]], [[kernel, 1]], []])

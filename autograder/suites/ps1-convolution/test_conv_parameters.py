"""Checks of `conv_parameters(c_in, c_out, k, bias=True)`."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.exercises.compare import exact
from autograder.reference import convolution as reference
from autograder.sandbox.student import Student


def _sizes(rng: np.random.Generator) -> tuple[int, int, int]:
    c_in, c_out, k = (int(size) for size in rng.permutation(np.arange(2, 13))[:3])
    return c_in, c_out, k


def test_one_input_channel(student: Student, rng: np.random.Generator) -> None:
    """Filters that read a single channel have their weights, and one bias each."""
    k, c_out = (int(size) for size in rng.permutation(np.arange(2, 13))[:2])
    cases = [(1, 6, 5), (1, 10, 3), (1, c_out, k)]
    answers = [student.conv_parameters(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        exact(answer, reference.conv_parameters(*case))


@pytest.mark.weight(2)
def test_several_input_channels(student: Student, rng: np.random.Generator) -> None:
    """Each filter reads all the input channels, with different numbers of channels in and out."""
    cases = [(6, 16, 5), (3, 8, 2), (9, 4, 3), (5, 2, 1), _sizes(rng), _sizes(rng)]
    answers = [student.conv_parameters(*case) for case in cases]
    for answer, case in zip(answers, cases, strict=True):
        exact(answer, reference.conv_parameters(*case))


def test_without_bias(student: Student, rng: np.random.Generator) -> None:
    """The option that removes the biases removes all of them and nothing else."""
    cases = [(3, 16, 3, False), (3, 16, 3, True), (7, 2, 4, False), (*_sizes(rng), False)]
    answers = [student.conv_parameters(c_in, c_out, k, bias=bias) for c_in, c_out, k, bias in cases]
    for answer, (c_in, c_out, k, bias) in zip(answers, cases, strict=True):
        exact(answer, reference.conv_parameters(c_in, c_out, k, bias))

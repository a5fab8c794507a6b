"""Checks of `conv2d(x, weight, bias, padding=0, stride=1)`.

Entries are quarters of integers: sums of products are then exact in float32 too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close
from autograder.reference import convolution as reference
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]

#: The fixed probes: the same for every course, and without any symmetry.
FIXED = 20


def _quarters(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(-12, 13, size=shape) / 4.0


def _layer(
    rng: np.random.Generator, c_in: int, c_out: int, height: int, width: int, k: int
) -> tuple[Array, Array, Array]:
    bias = rng.permutation(np.arange(1, 2 * c_out + 1))[:c_out] / 4.0
    return _quarters(rng, c_in, height, width), _quarters(rng, c_out, c_in, k, k), bias


def test_one_filter(student: Student, rng: np.random.Generator) -> None:
    """One filter on one channel gives the cross-correlation plus the filter's bias."""
    probes = [_layer(np.random.default_rng(FIXED), 1, 1, 4, 5, 2), _layer(rng, 1, 1, 6, 5, 3)]
    answers = [student.conv2d(*probe) for probe in probes]
    for answer, probe in zip(answers, probes, strict=True):
        close(answer, reference.conv2d(*probe))


@pytest.mark.weight(2)
def test_channels_and_filters(student: Student, rng: np.random.Generator) -> None:
    """Every filter sums over all the input channels, then adds its own bias."""
    probes = [_layer(np.random.default_rng(FIXED + 1), 3, 2, 5, 6, 2), _layer(rng, 2, 4, 5, 7, 3)]
    answers = [student.conv2d(*probe) for probe in probes]
    for answer, probe in zip(answers, probes, strict=True):
        close(answer, reference.conv2d(*probe))


def test_padding(student: Student, rng: np.random.Generator) -> None:
    """The padding adds zeros on the four sides of every channel."""
    probes = [_layer(np.random.default_rng(FIXED + 2), 3, 2, 4, 5, 3), _layer(rng, 2, 3, 5, 4, 2)]
    answers = [student.conv2d(*probe, padding=padding) for probe, padding in zip(probes, (2, 1), strict=True)]
    for answer, probe, padding in zip(answers, probes, (2, 1), strict=True):
        close(answer, reference.conv2d(*probe, padding=padding))


def test_stride(student: Student, rng: np.random.Generator) -> None:
    """The stride moves the window in both directions, and a last incomplete step is dropped."""
    probes = [_layer(np.random.default_rng(FIXED + 3), 2, 3, 6, 9, 3), _layer(rng, 3, 2, 7, 9, 2)]
    answers = [student.conv2d(*probe, stride=stride) for probe, stride in zip(probes, (2, 3), strict=True)]
    for answer, probe, stride in zip(answers, probes, (2, 3), strict=True):
        close(answer, reference.conv2d(*probe, stride=stride))


def test_padding_and_stride(student: Student, rng: np.random.Generator) -> None:
    """Padding and stride together, with every size different."""
    probes = [_layer(np.random.default_rng(FIXED + 4), 2, 4, 5, 8, 3), _layer(rng, 3, 2, 6, 9, 4)]
    settings = ((1, 2), (2, 3))
    answers = [student.conv2d(*probe, *setting) for probe, setting in zip(probes, settings, strict=True)]
    for answer, probe, setting in zip(answers, probes, settings, strict=True):
        close(answer, reference.conv2d(*probe, *setting))


def test_filter_too_large(student: Student, rng: np.random.Generator) -> None:
    """Filters that exceed the padded image are refused, and those that just fit are not."""
    x, weight, bias = _layer(np.random.default_rng(FIXED + 5), 2, 3, 6, 7, 4)
    drawn, filters, shifts = _layer(rng, 3, 2, 4, 4, 5)
    probes = [(x[:, :4, :], weight, bias, 0), (x[:, :2, :5], weight, bias, 1), (drawn, filters, shifts, 1)]
    answers = [student.conv2d(*probe) for probe in probes]
    for answer, probe in zip(answers, probes, strict=True):
        close(answer, reference.conv2d(*probe))
    with student.rejects(ValueError):
        student.conv2d(x[:, :3, :], weight, bias)
    with student.rejects(ValueError):
        student.conv2d(x[:, :, :3], weight, bias)
    with student.rejects(ValueError):
        student.conv2d(x[:, :1, :], weight, bias, padding=1)
    x, weight, bias = _layer(rng, 3, 2, 4, 4, 5)
    with student.rejects(ValueError):
        student.conv2d(x, weight, bias)

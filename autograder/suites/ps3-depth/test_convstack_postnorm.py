"""Checks of `ConvStackPostNorm(**kw)`: weights by value, in training and in evaluation mode."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.sandbox.student import Student
from autograder.suites.stacks import Probe, measuring, same_gradients, same_logits, same_trace

CODE = measuring("ConvStackPostNorm(**keywords)")


def _probes(rng: np.random.Generator) -> list[Probe]:
    return [
        Probe(rng, ["postnorm"] * 4, channels=5, stride=2),
        Probe(rng, ["postnorm"] * 3, channels=6, n_classes=4),
    ]


def _ask(student: Student, probe: Probe, training: bool = True) -> object:
    return student.run(CODE, needs=("ConvStackPostNorm",), **probe.inputs(training))


def _asked(student: Student, rng: np.random.Generator, training: bool = True) -> list[tuple[object, Probe]]:
    """Both answers before either is judged."""
    return [(_ask(student, probe, training), probe) for probe in _probes(rng)]


@pytest.mark.weight(2)
def test_formula(student: Student, rng: np.random.Generator) -> None:
    """The norm of the sum of h and act(conv(h)), in every block, for other sizes of the stack."""
    for answer, probe in _asked(student, rng):
        same_logits(answer, probe)


def test_gradients(student: Student, rng: np.random.Generator) -> None:
    """The gradient of every parameter, with the same weights."""
    for answer, probe in _asked(student, rng):
        same_gradients(answer, probe)


def test_trace(student: Student, rng: np.random.Generator) -> None:
    """The trace gets the mean absolute activation after each block, after its norm."""
    for answer, probe in _asked(student, rng):
        same_trace(answer, probe)


def test_evaluation(student: Student, rng: np.random.Generator) -> None:
    """In evaluation mode each norm uses its own running statistics."""
    for answer, probe in _asked(student, rng, training=False):
        same_logits(answer, probe, training=False)

"""Checks of `ConvStackPartial(without_skip=(), **kw)`: weights by value, for several sets of blocks."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pytest

from autograder.reference.depth import partial_rules
from autograder.sandbox.student import Student
from autograder.suites.stacks import Probe, measuring, same_gradients, same_logits, same_trace

CODE = measuring("ConvStackPartial(without_skip=without_skip, **keywords)")
#: An iterator can be read once only.
CODE_ITERATOR = measuring("ConvStackPartial(without_skip=(i for i in without_skip), **keywords)")
CODE_DEFAULT = measuring("ConvStackPartial(**keywords)")


def _probe(rng: np.random.Generator, depth: int, without_skip: Collection[int], channels: int = 5) -> Probe:
    return Probe(rng, partial_rules(depth, without_skip), channels, stride=2)


def _ask(
    student: Student, probe: Probe, without_skip: Collection[int], code: str = CODE, training: bool = True
) -> object:
    return student.run(
        code, needs=("ConvStackPartial",), **{**probe.inputs(training), "without_skip": list(without_skip)}
    )


@pytest.mark.weight(2)
def test_removed(student: Student, rng: np.random.Generator) -> None:
    """A removed block is act(conv(h)), without norm and skip; the blocks after it have theirs again."""
    inner = sorted(int(i) for i in rng.choice([1, 2, 3, 4], size=2, replace=False))
    asked = []
    for depth, without_skip in ((6, (3, 4, 5)), (5, (0, 1)), (6, (1, 4)), (6, inner)):
        probe = _probe(rng, depth, without_skip)
        asked.append((_ask(student, probe, without_skip), probe))
    for answer, probe in asked:
        same_logits(answer, probe)


def test_none_and_all(student: Student, rng: np.random.Generator) -> None:
    """Without removed blocks the stack is pre-norm, with all of them it is plain."""
    probe = _probe(rng, 4, ())
    same_logits(_ask(student, probe, ()), probe)
    same_logits(_ask(student, probe, (), CODE_DEFAULT), probe)
    probe = _probe(rng, 4, range(4))
    same_logits(_ask(student, probe, range(4)), probe)


def test_any_iterable(student: Student, rng: np.random.Generator) -> None:
    """The removed blocks may come as any iterable, in any order."""
    for without_skip in ((4, 1), (3, 0, 2)):
        probe = _probe(rng, 5, without_skip)
        same_logits(_ask(student, probe, without_skip, CODE_ITERATOR), probe)


def test_gradients(student: Student, rng: np.random.Generator) -> None:
    """The gradient of every parameter in use, and the trace, with the same weights."""
    for depth, without_skip in ((5, (3, 4)), (4, (0, 2))):
        probe = _probe(rng, depth, without_skip, channels=6)
        answer = _ask(student, probe, without_skip)
        same_gradients(answer, probe)
        same_trace(answer, probe)


def test_evaluation(student: Student, rng: np.random.Generator) -> None:
    """In evaluation mode each norm that is left uses its own running statistics."""
    for depth, without_skip in ((5, (4,)), (4, (0, 1))):
        probe = _probe(rng, depth, without_skip)
        same_logits(_ask(student, probe, without_skip, training=False), probe, training=False)

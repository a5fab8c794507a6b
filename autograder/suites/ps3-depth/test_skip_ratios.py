"""Checks of `skip_ratios` and `worse_when_removed`. The word earns nothing without the ratios."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from autograder.exercises.compare import WrongAnswer, close, entries, items, same
from autograder.reference.depth import ConvStackPartial, partial_rules
from autograder.sandbox.student import Student
from autograder.suites.stacks import Probe, default_ratio, drawing, drawn_ratio, measuring, same_logits

CODE = measuring("ConvStackPartial(without_skip=without_skip, **keywords)")
DEPTH = 20
REMOVED = (0, 5, 10, 15, 20)


def _blocks(where: str, k: int) -> list[int]:
    return list(range(DEPTH - k, DEPTH)) if where == "end" else list(range(k))


def _class(student: Student, rng: np.random.Generator) -> None:
    for depth, without_skip in ((4, (2, 3)), (5, (0, 1))):
        probe = Probe(rng, partial_rules(depth, without_skip), channels=5)
        answer = student.run(
            CODE, needs=("ConvStackPartial",), **{**probe.inputs(), "without_skip": list(without_skip)}
        )
        same_logits(answer, probe)


def _ratios(student: Student, places: Sequence[str]) -> None:
    table = entries(student.value("skip_ratios"), ["end", "start"])
    for where in places:
        for k, got in zip(REMOVED, items(table[where], len(REMOVED)), strict=True):
            blocks = _blocks(where, k)
            right = default_ratio(ConvStackPartial, tuple(blocks))
            try:
                close(got, right, rtol=5e-2, atol=0)
            except WrongAnswer:  # weights drawn in another order give another ratio: measured here, from them
                code = drawing(f"ConvStackPartial(without_skip={blocks})")
                weights = student.run(code, needs=("ConvStackPartial",))
                close(got, drawn_ratio(weights, ConvStackPartial, tuple(blocks)), rtol=5e-2, atol=0)


def test_end(student: Student, rng: np.random.Generator) -> None:
    """The five ratios with the skips removed from the end, measured on a class that passes its own checks."""
    _class(student, rng)
    _ratios(student, ["end"])


def test_start(student: Student, rng: np.random.Generator) -> None:
    """The five ratios with the skips removed from the start."""
    _class(student, rng)
    _ratios(student, ["start"])


def test_conclusion(student: Student, rng: np.random.Generator) -> None:
    """Where removing skips is worse for the gradient of the first block, as the ratios say."""
    _class(student, rng)
    word = student.value("worse_when_removed")
    _ratios(student, ["end", "start"])
    same(word, "end")

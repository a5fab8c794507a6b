"""Checks of `healthy_stacks`, the verdicts on five stacks of the notebook."""

from __future__ import annotations

import numpy as np

from autograder.exercises.compare import entries, same
from autograder.sandbox.student import Student

#: By the rule of the statement: see tests/reference/test_depth.py, which measures them.
VERDICTS = {
    "plain": False,
    "naive": False,
    "prenorm": True,
    "bare attention": False,
    "prenorm attention": True,
}


def test_verdicts(student: Student, rng: np.random.Generator) -> None:
    """The five verdicts, by all three conditions of the rule together."""
    answer = entries(student.value("healthy_stacks"), list(VERDICTS))
    for name, verdict in VERDICTS.items():
        same(answer[name], verdict)

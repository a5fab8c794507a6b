"""Checks of `parameter_count(mode)`, which gives (declared, used)."""

from __future__ import annotations

import numpy as np

from autograder.exercises.compare import exact, items
from autograder.reference.depth import parameter_count
from autograder.sandbox.student import Student


def _ask(student: Student, place: int) -> None:
    answers = {mode: items(student.parameter_count(mode), 2) for mode in ("plain", "naive", "prenorm")}
    for mode, answer in answers.items():
        exact(answer[place], parameter_count(mode)[place])


def test_declared(student: Student, rng: np.random.Generator) -> None:
    """The numbers that an optimizer would be given, in each mode, from one function for all three."""
    _ask(student, 0)
    exact(items(student.parameter_count("plain"), 2)[1], parameter_count("plain")[1])


def test_used(student: Student, rng: np.random.Generator) -> None:
    """The numbers that take part in the forward pass, in each mode."""
    _ask(student, 1)


def test_unknown_mode(student: Student, rng: np.random.Generator) -> None:
    """A mode that does not exist is refused, those that do are not."""
    exact(items(student.parameter_count("prenorm"), 2)[1], parameter_count("prenorm")[1])
    exact(items(student.parameter_count("naive"), 2)[1], parameter_count("naive")[1])
    with student.rejects(ValueError):
        student.parameter_count("prenorms")

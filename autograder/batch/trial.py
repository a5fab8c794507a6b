"""Try single answers against their exercise's suite: what the audit and the tests are made of."""

from __future__ import annotations

from collections.abc import Mapping

from autograder.exercises.catalogue import load_exercises
from autograder.grading.answers import AnswerSheet
from autograder.grading.engine import Engine
from autograder.grading.experiments import Claim
from autograder.grading.graded import Graded
from autograder.grading.naming import Remembered
from autograder.grading.submission import rebuild
from autograder.grading.suite import Suite
from autograder.results import ExerciseResult
from autograder.sandbox.limits import Limits
from autograder.sandbox.process import Sandbox


class Trial:
    """Runs one exercise's answer in a started sandbox, on the given code and nothing else."""

    def __init__(
        self, sheet: AnswerSheet, suite: Suite, sandbox: Sandbox, limits: Limits, secret: str
    ) -> None:
        self._sheet = sheet
        self._suite = suite
        self._sandbox = sandbox
        self._limits = limits
        self._secret = secret
        self._exercises = load_exercises(sheet.template.assignment)
        self._remembered: Remembered = {}

    def grade(
        self, exercise: str, code: str | None, claims: Mapping[str, Claim] | None = None, rerun: bool = False
    ) -> Graded:
        """The grade of `code` in the exercise's cell; None leaves it as released.

        `claims`: what an experiment's cell recorded, by default what is catalogued with the code.
        """
        sheet = self._sheet.only(exercise)
        engine = Engine(
            sheet.template,
            self._suite,
            self._sandbox,
            self._limits,
            self._secret,
            self._exercises,
            rerun,
            self._remembered,
        )
        recorded = None if claims is None else {exercise: claims}
        return engine.grade(rebuild(sheet.bytes({exercise: code}, claims=recorded), sheet.template), "trial")

    def result(self, exercise: str, code: str | None) -> ExerciseResult:
        """The exercise's own result."""
        return self.grade(exercise, code).report.exercises[0]

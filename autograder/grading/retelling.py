"""How a check's failure is told in full: from inputs that are not hidden.

The class of an exception and its line help a student, and could carry a hidden input out (a cell of ten
thousand lines that raise says thirteen bits of it). So a check in which something was raised is asked
once more with inputs drawn from a word that everybody knows, in a process that has heard no hidden one;
what is raised there is told.
"""

from __future__ import annotations

from dataclasses import replace

from autograder.grading.execution import Execution
from autograder.grading.questions import Questions
from autograder.grading.suite import Check, Suite
from autograder.results import CheckResult, ExerciseResult
from autograder.sandbox.limits import Limits
from autograder.sandbox.student import NotRejected, StudentRaised

#: What stands for the course's secret where inputs may be known.
PUBLIC = "inputs that anybody may know"


class Retelling:
    """The checks of one submission whose failure could say more than may be told of a hidden input."""

    def __init__(self, suite: Suite, limits: Limits) -> None:
        self._suite = suite
        self._limits = limits
        self._checks: dict[str, list[tuple[Check, str]]] = {}

    def note(self, check: Check, raised: BaseException | None, message: str) -> None:
        """Remember a check that ended so, with the sentence that it got."""
        if isinstance(raised, StudentRaised | NotRejected):
            self._checks.setdefault(check.exercise, []).append((check, message))

    def told(self, results: tuple[ExerciseResult, ...], execution: Execution) -> tuple[ExerciseResult, ...]:
        """The results with those sentences made whole, where the same is raised for inputs that are known."""
        found = [self._exercise(result, execution) for result in results] if self._checks else results
        return tuple(found)

    def _exercise(self, result: ExerciseResult, execution: Execution) -> ExerciseResult:
        checks = []
        for one in result.checks:
            for check, message in self._checks.get(result.grade_id.removesuffix("_checks"), ()):
                if check.name == one.name and message == one.message:  # else a misconception has been named
                    one = self._check(one, check, execution)
            checks.append(one)
        return replace(result, checks=tuple(checks))

    def _check(self, told: CheckResult, check: Check, execution: Execution) -> CheckResult:
        questions = Questions(check.exercise, execution.apart(), self._limits, [], hidden=False)
        raised = self._suite.run(check, questions, PUBLIC, questions)
        if not isinstance(raised, StudentRaised | NotRejected):
            return told
        return replace(told, message=f"{check.sentence} {raised}")

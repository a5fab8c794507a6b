"""Grade one submission: run it in the sandbox, run the hidden suites against it here, add up.

`Engine.grade` depends on the submission's content, the assignment, the limits and the secret only.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from autograder.errors import GradingError
from autograder.exercises.catalogue import Exercise, load_exercises
from autograder.exercises.compare import WrongAnswer
from autograder.grading.autograded import graded_notebook
from autograder.grading.execution import Execution, outcome_of
from autograder.grading.figures import used_exercises
from autograder.grading.graded import Graded, Known
from autograder.grading.naming import Probe, Remembered, named
from autograder.grading.questions import Questions
from autograder.grading.retelling import Retelling
from autograder.grading.submission import Submission
from autograder.grading.suite import Check, Suite
from autograder.grading.template import CHECKS, VISIBLE, Role, Template, TemplateCell
from autograder.results import CheckResult, ExerciseResult, GradeReport, Outcome, Stage, gravest
from autograder.sandbox.limits import Limits
from autograder.sandbox.process import Sandbox
from autograder.sandbox.student import (
    NotRejected,
    StudentFailure,
    StudentMissing,
    StudentRaised,
    StudentTampered,
)

NOT_ATTEMPTED = "This exercise has no answer yet: its cell is as it was released."
TAMPERED_FLAG = (
    "Something in the notebook's process wrote to the grader's connection, which no answer needs to do. "
    "Nothing after that was graded; read the student's cells before you draw a conclusion."
)
OUR_ERROR = "This check could not be run; the fault is the course's, not yours. Tell your teacher."


class Engine:
    """Grades submissions of one assignment, one after the other, in one sandbox."""

    def __init__(
        self,
        template: Template,
        suite: Suite,
        sandbox: Sandbox,
        limits: Limits,
        secret: str,
        exercises: dict[str, Exercise] | None = None,
        rerun_experiments: bool = False,
        remembered: Remembered | None = None,
    ) -> None:
        """`exercises`: the catalogue that names misconceptions; by default the assignment's own files.

        `remembered`: what its wrong answers gave before, to be shared by engines of one assignment.
        """
        self.template = template
        self._suite = suite
        self._sandbox = sandbox
        self._limits = limits
        self._secret = secret
        self._uses = used_exercises(template)
        self._rerun_experiments = rerun_experiments
        self._remembered: Remembered = {} if remembered is None else remembered
        self._exercises = load_exercises(template.assignment) if exercises is None else exercises

    def grade(self, submission: Submission, student: str, known: Mapping[str, Known] | None = None) -> Graded:
        """Run, check and add up. Raises `SandboxError` when no submission can be run here at all.

        `known`: exercises whose results are taken as they are; their suites are not run.
        """
        started = time.perf_counter()
        execution = Execution(
            submission,
            self._sandbox,
            self._limits,
            self.template.drawn,
            self._uses,
            self._rerun_experiments,
            self._sandbox.shared(),
        )
        trouble: list[str] = []
        flags: list[str] = []
        kept = known or {}
        retelling = Retelling(self._suite, self._limits)
        try:
            execution.run()
            execution.expect(_failed_before(submission, execution))
            results = tuple(
                self._exercise(
                    cell, submission, execution, trouble, flags, kept.get(cell.exercise or ""), retelling
                )
                for cell in self.template.cells
                if cell.role is Role.CHECKS
            )
            if isinstance(execution.ended, StudentTampered):
                flags.append(TAMPERED_FLAG)
            results = retelling.told(results, execution)
            execution.draw(_passed(results))
        finally:
            execution.close()
        written = sum(cell.points for cell in self.template.cells if cell.role is Role.WRITTEN)
        report = GradeReport(
            student=student,
            assignment=submission.assignment,
            notebook=submission.notebook,
            score=round(sum(result.points for result in results), 4),
            max_score=round(sum(result.max_points for result in results) + written, 4),
            late_seconds=0.0,
            repairs=(*submission.repairs, *execution.notes),
            sandbox=execution.layers,
            seconds=round(time.perf_counter() - started, 3),
            exercises=results,
            flags=tuple(flags),
        )
        notebook = graded_notebook(
            submission, self.template, execution.runs, report, self._limits.notebook_output_size
        )
        return Graded(report, notebook, tuple(trouble))

    def _exercise(
        self,
        cell: TemplateCell,
        submission: Submission,
        execution: Execution,
        trouble: list[str],
        flags: list[str],
        known: Known | None,
        retelling: Retelling,
    ) -> ExerciseResult:
        if known is not None:
            trouble.extend(known.trouble)
            flags.extend(known.flags)
            return known.result
        name = cell.exercise or ""
        checks = self._suite.checks(name)
        if name not in submission.attempted:
            verdict = _Verdict(Outcome.NOT_ATTEMPTED, NOT_ATTEMPTED, Stage.NOT_ATTEMPTED)
            results = [_result(check, cell.points, checks, verdict) for check in checks]
            return _total(cell, results)
        questions = Questions(name, execution, self._limits, flags)
        results = []
        telling: list[Probe] = []  # asked by a failed check: few wrong answers agree on them
        others: list[Probe] = []
        for check in checks:
            questions.heard = False
            asked = len(questions.probes)
            raised = self._suite.run(check, questions, self._secret, questions)
            verdict = self._judge(check, raised, questions, execution, trouble)
            retelling.note(check, raised, verdict.message)
            results.append(_result(check, cell.points, checks, verdict))
            (telling if verdict.outcome is Outcome.FAILED else others).extend(questions.probes[asked:])
        # The quick ones first: a wrong answer that differs on one is spared the rest, which may be trainings.
        probes = [*sorted(telling, key=_seconds), *sorted(others, key=_seconds)]
        return _total(cell, self._name(self._exercises.get(name), probes, results))

    def _judge(
        self,
        check: Check,
        raised: BaseException | None,
        questions: Questions,
        execution: Execution,
        trouble: list[str],
    ) -> _Verdict:
        if raised is None:
            return _Verdict(Outcome.PASSED, check.sentence)
        if isinstance(raised, WrongAnswer):
            return _Verdict(Outcome.FAILED, f"{check.sentence} {raised}", raised.stage)
        if isinstance(raised, StudentMissing):
            cause = _answer_failure(execution, check.exercise)
            if cause is not None:
                words = f"{check.sentence} The answer cell did not run to its end. {cause}"
                return _Verdict(outcome_of(cause), words, _stage(cause))
            return _Verdict(Outcome.FAILED, f"{check.sentence} {raised}", Stage.MISSING)
        if isinstance(raised, StudentFailure):
            return _Verdict(outcome_of(raised), f"{check.sentence} {raised}", _stage(raised))
        if questions.heard:
            # Whatever goes wrong after the first byte from a student is not ours to pay for.
            trouble.append(
                f"{check.exercise}/{check.name}: {type(raised).__name__} after an answer: {raised}"
            )
            return _Verdict(Outcome.CRASHED, f"{check.sentence} Your answer could not be compared.")
        trouble.append(f"{check.exercise}/{check.name}: {type(raised).__name__}: {raised}")
        return _Verdict(Outcome.ERROR, OUR_ERROR)

    def _name(
        self, exercise: Exercise | None, probes: list[Probe], results: list[CheckResult]
    ) -> list[CheckResult]:
        """Put the misconception's name on the failed checks, and its sentence on the first."""
        failed = [result for result in results if result.outcome is Outcome.FAILED]
        found = named(exercise, probes, self._remembered) if exercise is not None and failed else None
        if found is None:
            return results
        return [
            replace(
                result,
                message=found.sentence if result is failed[0] else result.message,
                misconception=found.name,
                stage=Stage.NAMED,
            )
            if result.outcome is Outcome.FAILED
            else result
            for result in results
        ]


@dataclass(frozen=True)
class _Verdict:
    """How one check ended, before it is worth points."""

    outcome: Outcome
    message: str
    stage: Stage | None = None


def _seconds(probe: Probe) -> float:
    return probe.seconds


def _answer_failure(execution: Execution, exercise: str) -> StudentFailure | None:
    """How the exercise's own answer cell failed, if it did."""
    for planned, run in zip(execution.submission.cells, execution.runs, strict=True):
        released = planned.template
        if released is not None and released.role is Role.SOLUTION and released.exercise == exercise:
            return run.failure
    return None


def _failed_before(submission: Submission, execution: Execution) -> set[str]:
    """The exercises of which the first run shows that they will not pass every check."""
    failed = set()
    for planned, run in zip(submission.cells, execution.runs, strict=True):
        released = planned.template
        if released is None:
            continue
        if released.role is Role.SOLUTION and released.cell_type == "code":
            if run.failure is not None or released.grade_id not in submission.attempted:
                failed.add(released.grade_id)
        elif run.failure is not None and released.grade_id.endswith(VISIBLE):
            failed.add(released.grade_id.removesuffix(VISIBLE))
    return failed


def _stage(failed: StudentFailure) -> Stage | None:
    """The stage that a student's own failure stopped at; none for what never ended."""
    if isinstance(failed, NotRejected):
        return Stage.NOT_REFUSED
    return Stage.RAISES if isinstance(failed, StudentRaised) else None


def _passed(results: tuple[ExerciseResult, ...]) -> set[str]:
    """The exercises all of whose checks passed."""
    return {one.grade_id.removesuffix(CHECKS) for one in results if one.outcome is Outcome.PASSED}


def _result(check: Check, points: float, checks: list[Check], verdict: _Verdict) -> CheckResult:
    share = points * check.weight / sum(one.weight for one in checks)
    earned = share if verdict.outcome is Outcome.PASSED else 0.0
    return CheckResult(
        check.name, verdict.outcome, round(earned, 4), round(share, 4), verdict.message, stage=verdict.stage
    )


def _total(cell: TemplateCell, results: list[CheckResult]) -> ExerciseResult:
    """The weighted share of the checks that passed: exactly the full points when all did."""
    outcomes = [result.outcome for result in results]
    if all(outcome is Outcome.PASSED for outcome in outcomes):
        points = cell.points
    else:
        points = round(sum(result.points for result in results), 4)
    return ExerciseResult(
        cell.grade_id, min(points, cell.points), cell.points, gravest(outcomes), tuple(results)
    )


def refuse_error(graded: Graded) -> None:
    """Raise `GradingError` when an error of ours stands in the way of a score."""
    if graded.report.outcome is Outcome.ERROR:
        raise GradingError(
            f"{graded.report.student}/{graded.report.assignment}: not graded, the fault is ours: "
            + "; ".join(graded.trouble)
        )

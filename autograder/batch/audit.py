"""Run every catalogued answer through its suite: do the autograders tell right from wrong?

`plan_audit` and `Verdict` are pure; `run_audit` runs trials on a few processes.
"""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from autograder.batch.course import Course, Options
from autograder.batch.trial import Trial
from autograder.errors import CourseError, DeepdrillsError, UsageError
from autograder.exercises.catalogue import load_exercises
from autograder.grading.answers import AnswerSheet
from autograder.grading.suite import Suite
from autograder.grading.template import Role
from autograder.results import Outcome
from autograder.sandbox.limits import Limits
from autograder.sandbox.process import Sandbox

#: The notebook's own solution is a right answer too.
SOLUTION = "the notebook's solution"
#: Why a wrong answer in an experiment is refused without a name.
OWN_NUMBERS = "what an experiment recorded is a student's own: no catalogued numbers can equal it"


@dataclass(frozen=True)
class Answer:
    """One catalogued answer to try. `name` of a wrong one is what it should be called."""

    assignment: str
    exercise: str
    name: str
    code: str
    right: bool
    #: Why a wrong answer need not be named; empty when it has to be.
    unnamed: str = ""


@dataclass(frozen=True)
class Verdict:
    """What the suite said of one answer."""

    answer: Answer
    full: bool
    outcome: Outcome
    named: tuple[str, ...]
    trouble: tuple[str, ...] = ()

    @property
    def misses(self) -> list[str]:
        """What is wrong with the autograder, as sentences; empty when it did as it should."""
        one = self.answer
        place = f"{one.assignment}/{one.exercise}: {one.name}"
        if self.outcome is Outcome.ERROR or self.trouble:
            return [f"{place}: the suite failed ({'; '.join(self.trouble) or 'no reason was given'})."]
        if one.right:
            return [] if self.full else [f"{place}: a right answer was refused ({self.outcome.value})."]
        if self.outcome is Outcome.NOT_ATTEMPTED:
            return [f"{place}: the catalogued code counts as not attempted."]
        found = []
        if self.full:
            found.append(f"{place}: a wrong answer was accepted.")
        others = [name for name in self.named if name != one.name]
        if others:
            found.append(f"{place}: it was called {', '.join(others)}, which it is not.")
        elif not self.full and not self.named and not one.unnamed:
            found.append(f"{place}: it was refused but not named (two entries agree, or a draw decides).")
        elif self.named and one.unnamed:
            found.append(f"{place}: it was named, although the catalogue says that it can not be.")
        return found

    def to_json(self) -> dict[str, Any]:
        return {
            "assignment": self.answer.assignment,
            "exercise": self.answer.exercise,
            "answer": self.answer.name,
            "right": self.answer.right,
            "full": self.full,
            "outcome": self.outcome.value,
            "named": list(self.named),
            "misses": self.misses,
        }


@dataclass(frozen=True)
class AuditPlan:
    """The answers to try, and what is missing in the files before anything runs."""

    answers: tuple[Answer, ...]
    gaps: tuple[str, ...]


def plan_audit(course: Course, assignment: str, exercise: str | None = None) -> AuditPlan:
    """Every catalogued answer of an assignment, or of one exercise. Raises `CourseError`."""
    sheet = AnswerSheet(course.root, assignment)
    places = {cell.grade_id for cell in sheet.template.cells}
    graded = [cell.exercise for cell in sheet.template.cells if cell.role is Role.CHECKS and cell.exercise]
    known = load_exercises(assignment)
    if exercise is not None and exercise not in graded:
        raise CourseError(
            course.root / "source" / assignment,
            f"there is no exercise '{exercise}'",
            f"There are: {', '.join(graded)}.",
        )
    answers: list[Answer] = []
    gaps: list[str] = []
    for name in sorted(set(known) - set(graded)):
        gaps.append(f"{assignment}/{name}: it has a data file, but no grade cell '{name}_checks'.")
    for name in graded:
        if exercise not in (None, name):
            continue
        if name in sheet.solutions:
            answers.append(Answer(assignment, name, SOLUTION, sheet.solutions[name], right=True))
        if name not in known or not known[name].misconceptions or not known[name].right:
            gaps.append(f"{assignment}/{name}: its data file lacks wrong answers, right answers or both.")
            continue
        for wrong in known[name].misconceptions:
            unnamed = wrong.unnamed or (OWN_NUMBERS if wrong.claims else "")
            answers.append(Answer(assignment, name, wrong.name, wrong.code, False, unnamed))
            if wrong.see not in places and wrong.see != f"{name}_statement":
                gaps.append(f"{assignment}/{name}: {wrong.name} points to a cell '{wrong.see}' that is not.")
        answers += [Answer(assignment, name, one.name, one.code, True) for one in known[name].right]
    return AuditPlan(tuple(answers), tuple(gaps))


def run_audit(
    course: Course, answers: tuple[Answer, ...], options: Options, secret: str, workers: int
) -> Iterator[Verdict]:
    """Try every answer on `workers` processes; yields each verdict as it comes.

    Raises the `DeepdrillsError` that kept a process from going on.
    """
    context = multiprocessing.get_context("spawn")
    settings = {
        "root": str(course.root),
        "limits": options.limits.to_json(),
        "allow_degraded": options.allow_degraded,
        "secret": secret,
    }
    count = max(1, min(workers, len(answers)))
    team = {}
    try:
        for number in range(count):
            ours, theirs = context.Pipe(duplex=False)
            share = [asdict(answer) for answer in answers[number::count]]
            process = context.Process(target=_serve, args=(theirs, share, settings), daemon=True)
            process.start()
            theirs.close()
            team[ours] = (process, len(share))
        while team:
            for connection in wait(list(team)):
                assert isinstance(connection, Connection)
                process, left = team[connection]
                verdict = _receive(connection)
                yield verdict
                team[connection] = (process, left - 1)
                if left == 1:
                    process.join(15)
                    del team[connection]
    finally:
        for process, _ in team.values():
            process.terminate()
            process.join(15)


def _receive(connection: Connection) -> Verdict:
    try:
        message = json.loads(connection.recv_bytes())
    except (EOFError, OSError):
        raise DeepdrillsError("a process of the audit ended early; run it again with --jobs 1.") from None
    if "refused" in message:
        raise (UsageError if message["usage"] else DeepdrillsError)(message["refused"])
    return Verdict(
        Answer(**message["answer"]),
        message["full"],
        Outcome(message["outcome"]),
        tuple(message["named"]),
        tuple(message["trouble"]),
    )


def _serve(connection: Connection, share: list[dict[str, Any]], settings: dict[str, Any]) -> None:
    """In the worker: one sandbox, a suite for each assignment, and this share of the answers."""
    limits, root = Limits(**settings["limits"]), Path(settings["root"])
    trials: dict[str, Trial] = {}
    try:
        with ExitStack() as stack:
            sandbox = stack.enter_context(
                Sandbox(limits, hidden=[root], allow_degraded=settings["allow_degraded"])
            )
            for one in share:
                answer = Answer(**one)
                if answer.assignment not in trials:
                    suite = stack.enter_context(Suite(answer.assignment))
                    sheet = AnswerSheet(root, answer.assignment)
                    trials[answer.assignment] = Trial(sheet, suite, sandbox, limits, settings["secret"])
                verdict = try_answer(trials[answer.assignment], answer)
                connection.send_bytes(json.dumps(asdict(verdict)).encode())
    except DeepdrillsError as error:
        refusal = {"refused": str(error), "usage": isinstance(error, UsageError)}
        connection.send_bytes(json.dumps(refusal).encode())
    except KeyboardInterrupt:
        return


def try_answer(trial: Trial, answer: Answer) -> Verdict:
    """Run one answer through its suite."""
    graded = trial.grade(answer.exercise, answer.code)
    result = graded.report.exercises[0]
    return Verdict(
        answer,
        result.points == result.max_points,
        result.outcome,
        tuple(sorted({check.misconception for check in result.checks if check.misconception})),
        graded.trouble,
    )

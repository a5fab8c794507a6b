"""What grading produces: frozen records with a JSON round trip. Knows nothing of how they arise."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """How a check ended. Only `ERROR` is our fault; it never lowers a score."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_ATTEMPTED = "not attempted"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    OUT_OF_MEMORY = "out of memory"
    ERROR = "error"


class Stage(StrEnum):
    """How far an answer came before its check was refused, from the first step to the last."""

    NOT_ATTEMPTED = "not attempted"
    MISSING = "name missing"
    RAISES = "raises"
    TYPE = "wrong type"
    SHAPE = "wrong shape"
    FINITE = "not finite"
    VALUE = "wrong value"
    NOT_REFUSED = "impossible input not refused"
    NAMED = "named misconception"


#: From the outcome that says most about an exercise to the one that says least.
_GRAVITY = (
    Outcome.ERROR,
    Outcome.OUT_OF_MEMORY,
    Outcome.CRASHED,
    Outcome.TIMEOUT,
    Outcome.NOT_ATTEMPTED,
    Outcome.FAILED,
    Outcome.PASSED,
)


@dataclass(frozen=True)
class CheckResult:
    """One scored item: its name, how it ended and the sentence that a student reads."""

    name: str
    outcome: Outcome
    points: float
    max_points: float
    message: str
    misconception: str | None = None
    #: Where a check that did not pass stopped; None for one that passed or that never ended.
    stage: Stage | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "outcome": self.outcome.value,
            "points": self.points,
            "max_points": self.max_points,
            "message": self.message,
            "misconception": self.misconception,
            "stage": self.stage.value if self.stage else None,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> CheckResult:
        stage = data.get("stage")  # reports of 0.1 have none
        return cls(
            name=data["name"],
            outcome=Outcome(data["outcome"]),
            points=data["points"],
            max_points=data["max_points"],
            message=data["message"],
            misconception=data["misconception"],
            stage=Stage(stage) if stage else None,
        )


@dataclass(frozen=True)
class ExerciseResult:
    """The checks of one grade cell; `points` is the weighted share of those that passed."""

    grade_id: str
    points: float
    max_points: float
    outcome: Outcome
    checks: tuple[CheckResult, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "grade_id": self.grade_id,
            "points": self.points,
            "max_points": self.max_points,
            "outcome": self.outcome.value,
            "checks": [check.to_json() for check in self.checks],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ExerciseResult:
        return cls(
            grade_id=data["grade_id"],
            points=data["points"],
            max_points=data["max_points"],
            outcome=Outcome(data["outcome"]),
            checks=tuple(CheckResult.from_json(check) for check in data["checks"]),
        )


@dataclass(frozen=True)
class GradeReport:
    """All that one submission earned, with what was repaired and which layers confined it."""

    student: str
    assignment: str
    notebook: str
    score: float
    max_score: float
    late_seconds: float
    repairs: tuple[str, ...]
    sandbox: tuple[str, ...]
    seconds: float
    exercises: tuple[ExerciseResult, ...] = field(default=())
    #: What the teaching staff should look at; costs no points by itself.
    flags: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """The gravest outcome of any exercise."""
        return gravest([exercise.outcome for exercise in self.exercises])

    def to_json(self) -> dict[str, Any]:
        """Plain values, with the keys of the command's `--json`."""
        return {
            "student": self.student,
            "assignment": self.assignment,
            "notebook": self.notebook,
            "score": self.score,
            "max_score": self.max_score,
            "late_seconds": self.late_seconds,
            "repairs": list(self.repairs),
            "sandbox": list(self.sandbox),
            "seconds": self.seconds,
            "exercises": [exercise.to_json() for exercise in self.exercises],
            "flags": list(self.flags),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> GradeReport:
        """The inverse of `to_json`; KeyError or ValueError on anything else."""
        return cls(
            student=data["student"],
            assignment=data["assignment"],
            notebook=data["notebook"],
            score=data["score"],
            max_score=data["max_score"],
            late_seconds=data["late_seconds"],
            repairs=tuple(data["repairs"]),
            sandbox=tuple(data["sandbox"]),
            seconds=data["seconds"],
            exercises=tuple(ExerciseResult.from_json(exercise) for exercise in data["exercises"]),
            flags=tuple(data.get("flags", ())),
        )


def gravest(outcomes: list[Outcome]) -> Outcome:
    """The outcome that a summary shows: the gravest one, `PASSED` for none at all.

    An exercise with both failed and not attempted checks reads as failed: something was tried.
    """
    if Outcome.FAILED in outcomes and Outcome.NOT_ATTEMPTED in outcomes:
        outcomes = [one for one in outcomes if one is not Outcome.NOT_ATTEMPTED]
    return next((one for one in _GRAVITY if one in outcomes), Outcome.PASSED)

"""What grading one submission gives: a report, and the notebook that shows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from autograder.results import ExerciseResult, GradeReport


@dataclass(frozen=True)
class Graded:
    """A report, and the notebook that shows it (nbformat 4 JSON)."""

    report: GradeReport
    notebook: dict[str, Any]
    #: What an operator should know of an error of ours; empty otherwise.
    trouble: tuple[str, ...] = ()
    #: What each exercise's result depends on besides the submission, by the exercise's name.
    digests: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "report": self.report.to_json(),
            "trouble": list(self.trouble),
            "digests": self.digests,
            "notebook": self.notebook,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Graded:
        return cls(
            GradeReport.from_json(data["report"]),
            data["notebook"],
            tuple(data["trouble"]),
            dict(data["digests"]),
        )

    def exercise(self, name: str) -> Known | None:
        """The result of one exercise, with the words on it."""
        for result in self.report.exercises:
            if result.grade_id == f"{name}_checks":
                return Known(
                    result,
                    tuple(one for one in self.trouble if one.startswith(f"{name}/")),
                    tuple(one for one in self.report.flags if one.startswith(f"{name}: ")),
                )
        return None


@dataclass(frozen=True)
class Known:
    """An exercise that need not be graded again: its result, our troubles with it, words to the staff."""

    result: ExerciseResult
    trouble: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

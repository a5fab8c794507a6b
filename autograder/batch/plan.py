"""What is to be graded: a pure list of jobs, made before anything runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Job:
    """One submission to grade: whose, and the folder that it lies in."""

    student: str
    folder: str


def plan(submitted: Path, assignment: str, students: Iterable[str]) -> list[Job]:
    """One job a student, in the students' order."""
    return [Job(student, str(submitted / student / assignment)) for student in students]

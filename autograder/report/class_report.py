"""What the report on a class says: pure, from a `ClassRecord`. The page, the JSON and the CSV show it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import Any

from autograder.exercises.catalogue import Exercise
from autograder.nbgrader_bridge.class_record import ClassRecord, StudentRecord
from autograder.report.items import Item, Spread, item, remark, spread
from autograder.report.similarity import Pair, similar_pairs
from autograder.results import Outcome


@dataclass(frozen=True)
class ExerciseLine:
    """One grade cell: its statistics, and how many ended in each outcome."""

    title: str
    item: Item
    remark: str
    outcomes: dict[str, int]
    #: Still to be marked by a person; those do not count in the statistics.
    to_mark: int = 0


@dataclass(frozen=True)
class MisconceptionLine:
    """One named misconception and who has it: whom to talk to."""

    exercise: str
    name: str
    sentence: str
    students: tuple[str, ...]


@dataclass(frozen=True)
class StudentLine:
    """One student."""

    student: str
    score: float
    max_score: float
    points: dict[str, float]
    late_seconds: float
    penalty: float
    seconds: float
    repairs: tuple[str, ...]
    #: Claims that a spot check contradicts: to ask about, never a verdict.
    flags: tuple[str, ...]
    misconceptions: int
    outcomes: dict[str, int]
    to_mark: tuple[str, ...]
    graded: bool


@dataclass(frozen=True)
class ClassReport:
    """One assignment of one class."""

    course: str
    assignment: str
    pseudonymous: bool
    max_score: float
    spread: Spread | None
    exercises: tuple[ExerciseLine, ...]
    misconceptions: tuple[MisconceptionLine, ...]
    students: tuple[StudentLine, ...]
    missing: tuple[str, ...]
    pairs: tuple[Pair, ...]

    @property
    def late(self) -> list[StudentLine]:
        return [one for one in self.students if one.late_seconds > 0]

    @property
    def to_mark(self) -> list[StudentLine]:
        return [one for one in self.students if one.to_mark]

    @property
    def flagged(self) -> list[StudentLine]:
        return [one for one in self.students if one.flags]

    @property
    def repaired(self) -> list[StudentLine]:
        return [one for one in self.students if one.repairs]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def class_report(
    record: ClassRecord, exercises: dict[str, Exercise], pseudonymous: bool = False
) -> ClassReport:
    """The report on a class. `exercises`: the assignment's catalogue, for titles and sentences."""
    students = tuple(_student(one) for one in record.students)
    totals = {one.student: one.score for one in record.students}
    return ClassReport(
        course=record.course,
        assignment=record.assignment,
        pseudonymous=pseudonymous,
        max_score=max((one.max_score for one in record.students), default=0.0),
        spread=spread(list(totals.values())),
        exercises=tuple(_exercise(name, record, exercises) for name in record.exercises),
        misconceptions=_misconceptions(record, exercises),
        students=students,
        missing=record.missing,
        pairs=tuple(similar_pairs({one.student: one.code for one in record.students}, record.released)),
    )


def title(grade_id: str, exercises: dict[str, Exercise]) -> str:
    """An exercise as people read it."""
    for ending, kind in (("_checks", ""), ("_written", " (written)"), ("", "")):
        if grade_id.endswith(ending):
            name = grade_id.removesuffix(ending)
            words = name.replace("_", " ")
            known = exercises[name].title if name in exercises else words[:1].upper() + words[1:]
            return known + kind
    return grade_id


def _exercise(grade_id: str, record: ClassRecord, exercises: dict[str, Exercise]) -> ExerciseLine:
    marked = [
        (student, mark)
        for student in record.students
        for mark in student.marks
        if mark.grade_id == grade_id and not (mark.written and mark.to_mark)
    ]
    waiting = sum(mark.grade_id == grade_id and mark.to_mark for one in record.students for mark in one.marks)
    most = max((mark.max_score for _, mark in marked), default=0.0)
    raw = [sum(mark.score for mark in student.marks) for student, _ in marked]
    one = item(grade_id, most, [mark.score for _, mark in marked], raw)
    outcomes: dict[str, int] = {}
    for student in record.students:
        for result in student.report.exercises if student.report else ():
            if result.grade_id == grade_id:
                outcomes[result.outcome.value] = outcomes.get(result.outcome.value, 0) + 1
    order = [outcome.value for outcome in Outcome if outcome.value in outcomes]
    return ExerciseLine(
        title(grade_id, exercises), one, remark(one), {name: outcomes[name] for name in order}, waiting
    )


def _misconceptions(record: ClassRecord, exercises: dict[str, Exercise]) -> tuple[MisconceptionLine, ...]:
    who: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for student in record.students:
        for result in student.report.exercises if student.report else ():
            for name in dict.fromkeys(check.misconception for check in result.checks if check.misconception):
                who[result.grade_id.removesuffix("_checks"), name].append(student.student)
    lines = []
    for (exercise, name), students in who.items():
        entries = exercises[exercise].misconceptions if exercise in exercises else ()
        sentence = next((one.sentence for one in entries if one.name == name), name)
        lines.append(MisconceptionLine(title(exercise, exercises), name, sentence, tuple(students)))
    return tuple(sorted(lines, key=lambda one: (-len(one.students), one.exercise, one.name)))


def _student(one: StudentRecord) -> StudentLine:
    results = one.report.exercises if one.report else ()
    named = {
        (result.grade_id, check.misconception)
        for result in results
        for check in result.checks
        if check.misconception
    }
    outcomes = {outcome.value: sum(each.outcome is outcome for each in results) for outcome in Outcome}
    return StudentLine(
        student=one.student,
        score=round(one.score, 4),
        max_score=one.max_score,
        points={mark.grade_id: mark.score for mark in one.marks},
        late_seconds=one.late_seconds,
        penalty=one.penalty,
        seconds=one.report.seconds if one.report else 0.0,
        repairs=one.report.repairs if one.report else (),
        flags=one.report.flags if one.report else (),
        misconceptions=len(named),
        outcomes={name: count for name, count in outcomes.items() if count},
        to_mark=tuple(mark.grade_id for mark in one.marks if mark.to_mark),
        graded=one.report is not None,
    )

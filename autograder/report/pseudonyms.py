"""A class under pseudonyms: the same ones in every report, and no text that gives a name away."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import replace

from autograder.nbgrader_bridge.class_record import ClassRecord

MENDED = "(the words of a repair may name a person and are left out)"


def pseudonyms(students: Iterable[str], secret: str) -> dict[str, str]:
    """`student 01`, ... by student, in an order that only the course's secret gives."""

    def place(student: str) -> bytes:
        name = student.encode("utf-8", "surrogatepass")
        return hmac.new(secret.encode(), b"pseudonym\0" + name, hashlib.sha256).digest()

    ordered = sorted(set(students), key=place)
    width = max(2, len(str(len(ordered))))
    return {student: f"student {number:0{width}d}" for number, student in enumerate(ordered, start=1)}


def pseudonymised(record: ClassRecord, secret: str) -> ClassRecord:
    """The record with pseudonyms. Texts that a student may have put a name into are left out of it."""
    names = pseudonyms([*(one.student for one in record.students), *record.missing], secret)
    students = []
    for one in record.students:
        report = one.report
        if report is not None:
            report = replace(
                report, student=names[one.student], repairs=tuple(MENDED for _ in report.repairs)
            )
        students.append(replace(one, student=names[one.student], report=report))
    return replace(
        record,
        students=tuple(sorted(students, key=lambda one: one.student)),
        missing=tuple(sorted(names[student] for student in record.missing)),
    )

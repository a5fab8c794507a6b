"""What a report on a class says."""

from __future__ import annotations

import json
from dataclasses import replace

from autograder.exercises.catalogue import load_exercises
from autograder.report.class_report import ClassReport, class_report, title
from autograder.report.pseudonyms import pseudonymised, pseudonyms
from autograder.report.table import duration

from .a_class import ASSIGNMENT, EXERCISES, record, student

KNOWN = load_exercises(ASSIGNMENT)
CLASS = record(
    student("ann", 2, 2, 1),
    student("bob", 2, 0, 0.5, late=7200, penalty=0.5),
    student("cy", 0, 2, misconception="ceil", to_mark=True),
    student("di", 0.5, 1, 0, misconception="ceil", repairs=("The notebook was called 'di_miller.ipynb'.",)),
    student("ed", 1, 0, misconception="area", to_mark=True),
    student("flo", 2, 2, 1, flags=("depth_experiment: recorded 0.97, but 0.51 when measured again.",)),
    missing=("gus",),
)


def made() -> ClassReport:
    return class_report(CLASS, KNOWN)


def test_totals_are_those_of_the_gradebook() -> None:
    report = made()
    assert [one.score for one in report.students] == [5, 2, 2, 1.5, 1, 5]
    assert report.spread is not None
    assert (report.spread.median, report.max_score) == (2, 5)


def test_statistics_of_an_exercise() -> None:
    lines = {one.item.name: one for one in made().exercises}
    assert list(lines) == list(EXERCISES)
    first = lines["output_size_checks"]
    assert first.title == KNOWN["output_size"].title
    assert first.item.difficulty == 7.5 / 12
    assert first.outcomes == {"passed": 3, "failed": 3}
    assert first.item.discrimination is not None
    assert first.item.discrimination > 0


def test_what_nobody_has_marked_counts_in_no_statistic() -> None:
    written = made().exercises[-1]
    assert written.title == "Why (written)"
    assert (written.item.answered, written.to_mark) == (4, 2)
    assert written.item.difficulty == 2.5 / 4


def test_misconceptions_name_whom_to_talk_to() -> None:
    first, second = made().misconceptions
    assert (first.name, first.students) == ("ceil", ("cy", "di"))
    assert first.sentence == next(
        one.sentence for one in KNOWN["output_size"].misconceptions if one.name == "ceil"
    )
    assert second.students == ("ed",)


def test_late_unmarked_repaired_and_missing() -> None:
    report = made()
    assert [(one.student, duration(one.late_seconds)) for one in report.late] == [("bob", "2 h")]
    assert [one.student for one in report.to_mark] == ["cy", "ed"]
    assert [one.student for one in report.repaired] == ["di"]
    assert [(one.student, len(one.flags)) for one in report.flagged] == [("flo", 1)]
    assert report.missing == ("gus",)


def test_a_submission_that_we_did_not_grade_is_in_it_all_the_same() -> None:
    other = replace(student("hal", 2, 2, 1), report=None)
    line = class_report(record(other), KNOWN).students[0]
    assert (line.graded, line.score, line.outcomes) == (False, 5, {})


def test_the_penalty_never_takes_more_than_there_is() -> None:
    assert student("bob", 1, penalty=3).score == 0


def test_json_is_plain() -> None:
    data = json.loads(json.dumps(made().to_json()))
    assert data["misconceptions"][0]["students"] == ["cy", "di"]


def test_an_unknown_exercise_has_its_words_for_a_title() -> None:
    assert title("some_thing_checks", {}) == "Some thing"


def test_pseudonyms_hold_for_a_course_and_hide_texts() -> None:
    names = pseudonyms(["ann", "bob", "cy"], "secret")
    assert names == pseudonyms(["cy", "bob", "ann"], "secret")
    assert sorted(names.values()) == ["student 01", "student 02", "student 03"]
    others = [pseudonyms(["ann", "bob", "cy"], f"secret {number}") for number in range(20)]
    assert len({other["ann"] for other in others}) > 1, "another course has another order"
    hidden = json.dumps(class_report(pseudonymised(CLASS, "secret"), KNOWN, pseudonymous=True).to_json())
    for name in ("ann", "bob", "flo", "gus", "miller"):
        assert f'"{name}' not in hidden
        assert "miller" not in hidden

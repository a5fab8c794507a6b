from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.errors import CourseError, MissingLayerError, SandboxError, UsageError
from autograder.results import CheckResult, ExerciseResult, GradeReport, Outcome, Stage, gravest

CHECK = CheckResult("padding", Outcome.FAILED, 0.0, 1.5, "The padding counts.", "pad_forgotten")
EXERCISE = ExerciseResult(
    "output_size_checks",
    0.5,
    2.0,
    Outcome.FAILED,
    (CHECK, CheckResult("window", Outcome.PASSED, 0.5, 0.5, "")),
)
REPORT = GradeReport(
    student="ada",
    assignment="ps1-convolution",
    notebook="convolution",
    score=0.5,
    max_score=2.0,
    late_seconds=3600.0,
    repairs=("A cell was missing.",),
    sandbox=("seccomp", "landlock"),
    seconds=1.25,
    exercises=(EXERCISE,),
    flags=("depth_experiment: plain at 4 blocks.",),
)


def test_the_json_has_exactly_the_documented_keys_in_their_order() -> None:
    data = REPORT.to_json()
    assert list(data) == [
        "student", "assignment", "notebook", "score", "max_score", "late_seconds", "repairs", "sandbox",
        "seconds", "exercises", "flags",
    ]  # fmt: skip
    assert list(data["exercises"][0]) == ["grade_id", "points", "max_points", "outcome", "checks"]
    assert list(data["exercises"][0]["checks"][0]) == [
        "name", "outcome", "points", "max_points", "message", "misconception", "stage",
    ]  # fmt: skip


def test_the_json_is_plain_text_and_numbers() -> None:
    data = json.loads(json.dumps(REPORT.to_json()))
    assert data == REPORT.to_json()
    assert data["exercises"][0]["outcome"] == "failed"
    assert data["exercises"][0]["checks"][1]["misconception"] is None


def test_a_report_survives_the_round_trip() -> None:
    assert GradeReport.from_json(json.loads(json.dumps(REPORT.to_json()))) == REPORT


texts = st.text(max_size=8)
points = st.floats(0, 100)
stages = st.none() | st.sampled_from(Stage)
checks = st.builds(
    CheckResult, texts, st.sampled_from(Outcome), points, points, texts, st.none() | texts, stages
)
exercises = st.builds(
    ExerciseResult, texts, points, points, st.sampled_from(Outcome), st.lists(checks, max_size=3).map(tuple)
)


@settings(deadline=None)
@given(texts, points, st.lists(texts, max_size=3), st.lists(exercises, max_size=3))
def test_any_report_survives_the_round_trip(
    student: str, score: float, repairs: list[str], found: list[ExerciseResult]
) -> None:
    report = GradeReport(
        student, "a", "n", score, 100.0, 0.0, tuple(repairs), (), 0.1, exercises=tuple(found)
    )
    assert GradeReport.from_json(json.loads(json.dumps(report.to_json()))) == report


@pytest.mark.parametrize("lacking", ["student", "exercises", "sandbox"])
def test_a_report_without_one_of_its_keys_is_refused(lacking: str) -> None:
    data = REPORT.to_json()
    del data[lacking]
    with pytest.raises(KeyError):
        GradeReport.from_json(data)


def test_a_report_of_before_flags_has_none() -> None:
    data = REPORT.to_json()
    del data["flags"]
    assert GradeReport.from_json(data).flags == ()


def test_an_unknown_outcome_is_refused() -> None:
    data = REPORT.to_json()
    data["exercises"][0]["checks"][0]["outcome"] = "excellent"
    with pytest.raises(ValueError):
        GradeReport.from_json(data)


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([], Outcome.PASSED),
        ([Outcome.PASSED, Outcome.PASSED], Outcome.PASSED),
        ([Outcome.PASSED, Outcome.FAILED], Outcome.FAILED),
        ([Outcome.NOT_ATTEMPTED, Outcome.NOT_ATTEMPTED], Outcome.NOT_ATTEMPTED),
        ([Outcome.NOT_ATTEMPTED, Outcome.FAILED], Outcome.FAILED),
        ([Outcome.NOT_ATTEMPTED, Outcome.PASSED], Outcome.NOT_ATTEMPTED),
        ([Outcome.FAILED, Outcome.TIMEOUT], Outcome.TIMEOUT),
        ([Outcome.TIMEOUT, Outcome.CRASHED], Outcome.CRASHED),
        ([Outcome.CRASHED, Outcome.OUT_OF_MEMORY], Outcome.OUT_OF_MEMORY),
        ([Outcome.OUT_OF_MEMORY, Outcome.ERROR, Outcome.PASSED], Outcome.ERROR),
    ],
)
def test_the_gravest_outcome_stands_for_several(outcomes: list[Outcome], expected: Outcome) -> None:
    assert gravest(outcomes) is expected
    assert gravest(outcomes[::-1]) is expected


def test_the_report_shows_its_gravest_exercise() -> None:
    assert REPORT.outcome is Outcome.FAILED


def test_a_course_error_names_the_file_what_was_found_and_what_to_do() -> None:
    error = CourseError("source/ps1", "has no notebook", "Put one there.")
    assert str(error) == "source/ps1: has no notebook. Put one there."
    assert isinstance(error, UsageError)


def test_a_missing_layer_is_named_with_the_way_out() -> None:
    error = MissingLayerError(["landlock (kernel too old)"], [])
    assert isinstance(error, SandboxError)
    for words in ("landlock (kernel too old)", "reached: none", "deepdrills doctor", "--allow-degraded"):
        assert words in str(error)

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import autograder
from autograder.batch import course as module
from autograder.batch.course import Course, Grader, Options, grade_one
from autograder.batch.folder import Handed, read_folder
from autograder.batch.staging import stage, staged_root
from autograder.errors import CourseError
from autograder.grading.graded import Graded, Known
from autograder.grading.secret import FOLDER
from autograder.grading.submission import Submission
from autograder.results import CheckResult, ExerciseResult, GradeReport, Outcome
from autograder.sandbox.limits import Limits

from .small_course import ASSIGNMENT, EXERCISE, NOTEBOOK, WRONG, hand_in

SUBMITTED = "submitted"


class CountingEngine:
    """Stands in for the engine: counts, and gives everyone the same outcome."""

    def __init__(self) -> None:
        self.graded: list[Submission] = []
        self.known: list[dict[str, Known]] = []
        self.outcome = Outcome.PASSED

    def grade(self, submission: Submission, student: str, known: dict[str, Known]) -> Graded:
        self.graded.append(submission)
        self.known.append(known)
        check = CheckResult("only", self.outcome, 1.0, 1.0, "")
        exercise = ExerciseResult("output_size_checks", 1.0, 1.0, self.outcome, (check,))
        report = GradeReport(
            student, ASSIGNMENT, NOTEBOOK, 1.0, 2.0, 0.0, submission.repairs, (), 0.1, (exercise,)
        )
        return Graded(report, {"cells": [], "metadata": {}})


Start = Callable[..., Grader]


@pytest.fixture
def engine() -> CountingEngine:
    return CountingEngine()


@pytest.fixture
def start(root: Path, engine: CountingEngine, monkeypatch: pytest.MonkeyPatch) -> Start:
    """A grader of the small course whose engine counts."""
    monkeypatch.setattr(Grader, "_start", lambda self: engine)

    def make(options: Options | None = None, secret: str = "s") -> Grader:
        return Grader(Course(root), ASSIGNMENT, options or Options(), secret)

    return make


def handed(root: Path, student: str) -> Handed:
    return read_folder(root / SUBMITTED / student / ASSIGNMENT, NOTEBOOK)


def test_a_course_is_found_from_every_folder_in_it(root: Path) -> None:
    for inside in (root, root / "source", root / "source" / ASSIGNMENT):
        assert Course.find(inside) == Course(root.resolve())
    assert Course(root).assignments == [ASSIGNMENT]


def test_outside_a_course_the_way_in_is_said(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"not in a course folder.*--course"):
        Course.find(tmp_path)


def test_students_are_folders_with_the_assignment_in_them(root: Path) -> None:
    hand_in(root, "bao", None)
    hand_in(root, "ada", None)
    (root / SUBMITTED / "chloe" / "ps9").mkdir(parents=True)
    (root / SUBMITTED / "notes.txt").write_text("")
    (root / SUBMITTED / "eve").symlink_to(root / SUBMITTED / "ada", target_is_directory=True)
    assert Course(root).students(ASSIGNMENT) == ["ada", "bao"]
    assert Course(root).students("ps9") == ["chloe"]
    assert Course(root / "nowhere").students(ASSIGNMENT) == []


def test_what_is_in_the_store_is_not_graded_again(root: Path, start: Start, engine: CountingEngine) -> None:
    hand_in(root, "ada", WRONG)
    first = start().grade(handed(root, "ada"), "ada")
    assert start().grade(handed(root, "ada"), "ada") == first
    assert len(engine.graded) == 1
    start().grade(handed(root, "ada"), "ada", force=True)
    assert len(engine.graded) == 2


def test_equal_content_of_two_students_is_graded_once_and_is_each_ones_own(
    root: Path, start: Start, engine: CountingEngine
) -> None:
    for student in ("ada", "bao"):
        hand_in(root, student, WRONG)
    reports = [start().grade(handed(root, student), student).report for student in ("ada", "bao")]
    assert [report.student for report in reports] == ["ada", "bao"]
    assert len(engine.graded) == 1


def test_a_look_at_one_file_writes_nothing(root: Path, start: Start, engine: CountingEngine) -> None:
    hand_in(root, "ada", WRONG)
    before = sorted(root.rglob("*"))
    start().grade(handed(root, "ada"), "ada", keep=False)
    start().grade(handed(root, "ada"), "ada", keep=False)
    assert sorted(root.rglob("*")) == before
    assert len(engine.graded) == 2


def test_an_error_of_ours_is_never_kept(root: Path, start: Start, engine: CountingEngine) -> None:
    hand_in(root, "ada", WRONG)
    engine.outcome = Outcome.ERROR
    start().grade(handed(root, "ada"), "ada")
    engine.outcome = Outcome.PASSED
    assert start().grade(handed(root, "ada"), "ada").report.outcome is Outcome.PASSED
    assert len(engine.graded) == 2


def test_the_key_covers_all_that_a_result_depends_on(
    root: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(root, "ada", WRONG)

    def key(grader: Grader, given: Handed | None = None) -> str:
        return grader.key(grader.submission(given or handed(root, "ada")))

    keys = [
        key(start()),
        key(start(secret="other")),
        key(start(Options(limits=replace(Limits(), call_seconds=1.0)))),
        key(start(Options(allow_degraded=True))),
        key(start(), replace(handed(root, "ada"), files={"data.csv": b"1"})),
        key(start(), replace(handed(root, "ada"), notes=("renamed",))),
    ]
    (root / "source" / ASSIGNMENT / "values.csv").write_text("1,2")
    keys.append(key(start()))
    monkeypatch.setattr(module, "tree_digest", lambda *folders: "other code")
    keys.append(key(start()))
    monkeypatch.setattr(autograder, "__version__", "99")
    keys.append(key(start()))
    assert len(set(keys)) == len(keys)


def test_the_courses_own_data_files_win_over_a_students(root: Path, start: Start) -> None:
    path = hand_in(root, "ada", WRONG)
    (path.parent / "values.csv").write_text("forged")
    (path.parent / "mine.csv").write_text("mine")
    (root / "source" / ASSIGNMENT / "values.csv").write_text("1,2")
    assert start().submission(handed(root, "ada")).files == {"values.csv": b"1,2", "mine.csv": b"mine"}


def test_without_a_secret_of_the_course_one_is_made(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEEPDRILLS_SECRET", raising=False)
    Grader(Course(root), ASSIGNMENT, Options())
    assert (root / FOLDER / "secret").is_file()


def test_an_unknown_assignment_is_refused_before_anything_starts(root: Path) -> None:
    with pytest.raises(CourseError, match=f"assignments here: {ASSIGNMENT}"):
        Grader(Course(root), "ps9", Options(), "s")


def test_a_staged_submission_is_taken_from_the_store_by_its_key(
    root: Path, start: Start, engine: CountingEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPDRILLS_SECRET", "s")
    folder = hand_in(root, "ada", WRONG).parent
    grader = start()
    grader.grade(handed(root, "ada"), "ada")
    stage(root, "ada", ASSIGNMENT, NOTEBOOK, folder, grader.key(grader.submission(handed(root, "ada"))))
    staged = staged_root(root) / SUBMITTED / "ada" / ASSIGNMENT
    (staged / f"{NOTEBOOK}.ipynb").write_text("changed after it was graded")
    assert grade_one(root, "ada", ASSIGNMENT, NOTEBOOK, staged).report.score == 1.0
    assert len(engine.graded) == 1
    grade_one(root, "ada", ASSIGNMENT, NOTEBOOK, folder)
    assert len(engine.graded) == 1, "the same content, from the folder itself"


def test_one_submission_of_another_notebook_is_refused(root: Path, start: Start) -> None:
    folder = hand_in(root, "ada", WRONG).parent
    with pytest.raises(CourseError, match=r"other\.ipynb: is not the assignment's notebook"):
        grade_one(root, "ada", ASSIGNMENT, "other", folder)


def test_a_sandbox_that_was_started_is_lent_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []

    class Fake:
        def __init__(self, *args: Any, **about: Any) -> None:
            started.append((args, about))

        def start(self) -> None: ...

        def close(self) -> None: ...

    monkeypatch.setattr("autograder.sandbox.process.Sandbox", Fake)
    warm = module.WarmSandboxes()
    one = warm.get(Course(root), Options())
    assert warm.get(Course(root), Options()) is one
    assert warm.get(Course(root), Options(allow_degraded=True)) is not one
    assert len(started) == 2
    assert started[0][0][1] == [root]


def test_a_suite_that_changes_costs_its_own_exercise_only(
    root: Path, engine: CountingEngine, start: Start
) -> None:
    suites = root / "suites" / ASSIGNMENT
    suites.mkdir(parents=True)
    suite = suites / f"test_{EXERCISE}.py"
    suite.write_text("# of today\n")
    hand_in(root, "ada", WRONG)
    first = start()
    graded = first.grade(handed(root, "ada"), "ada")
    key = first.key(first.submission(handed(root, "ada")))
    assert engine.known == [{}]

    (suites / "test_another.py").write_text("# of an exercise that this course does not have\n")
    start().grade(handed(root, "ada"), "ada")
    assert len(engine.graded) == 1, "nothing of the assignment's has changed"

    suite.write_text("# of tomorrow\n")
    second = start()
    start().grade(handed(root, "ada"), "ada")
    assert engine.known[1] == {}, "its own exercise is graded again"
    other = second.key(second.submission(handed(root, "ada")))
    assert key.partition("-")[0] == other.partition("-")[0]
    assert key != other

    suite.write_text("# of today\n")
    assert start().grade(handed(root, "ada"), "ada") == graded
    assert len(engine.graded) == 2, "the older result is still there"


def test_results_under_the_same_suites_are_taken_over(
    root: Path, engine: CountingEngine, start: Start
) -> None:
    """Of a result made under other suites, the exercises whose own suite is the same are kept."""
    hand_in(root, "ada", WRONG)
    grader = start()
    graded = grader.grade(handed(root, "ada"), "ada")
    content, _, suites = grader.key(grader.submission(handed(root, "ada"))).partition("-")
    store = Course(root).store
    store.put(
        f"{content}-{suites[::-1]}", replace(graded, trouble=(f"{EXERCISE}/only: a note", "other/x: y"))
    )
    (known,) = grader._known(f"{content}-elsewhere").items()
    assert known[0] == EXERCISE
    assert known[1].result == graded.report.exercises[0]
    assert set(known[1].trouble) <= {f"{EXERCISE}/only: a note"}
    grader._digests = {EXERCISE: "another suite"}
    assert grader._known(f"{content}-elsewhere") == {}


def test_a_course_has_suites_of_its_own_for_the_assignments_that_it_names(root: Path) -> None:
    course = Course(root)
    (root / "suites" / "mine").mkdir(parents=True)
    assert course.suites("mine") == root / "suites"
    assert course.suites("ps1-convolution") == Path(autograder.__file__).parent / "suites"

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.errors import GradingError
from autograder.exercises.catalogue import Exercise, Misconception, load_exercises
from autograder.exercises.compare import WrongAnswer
from autograder.grading.answers import AnswerSheet
from autograder.grading.engine import NOT_ATTEMPTED, OUR_ERROR, Engine, refuse_error
from autograder.grading.graded import Graded
from autograder.grading.submission import rebuild
from autograder.grading.suite import Check, Suite
from autograder.results import CheckResult, ExerciseResult, Outcome, Stage
from autograder.sandbox.limits import Limits
from autograder.sandbox.student import StudentCrashed, StudentMissing, StudentOutOfMemory, StudentTimeout

from .fakes import FakeSandbox
from .toy import ADD, ANSWERS, TEMPLATE, extra, notebook, raw

ROOT = Path(__file__).parents[2]
SUITES = {
    "add": '''
import pytest
from autograder.exercises.compare import exact

def test_small(student, rng):
    """Small numbers are added."""
    for a in (2, int(rng.integers(5, 50))):
        exact(student.add(a, 3), a + 3)

@pytest.mark.weight(3)
def test_large(student):
    """Large numbers are added."""
    for a in (10**6, 10**9):
        exact(student.add(a, 7), a + 7)

def test_texts(student):
    """Texts are refused."""
    exact(student.add(4, 5), 9)
    with student.rejects(TypeError):
        student.add("a", 1)
''',
    "pair": '''
from autograder.exercises.compare import exact

def test_first(student):
    """The first number."""
    exact(student.value("first"), 1)

def test_second(student):
    """The second number."""
    exact(student.value("second"), 2)
''',
}
EXERCISES = {
    "add": Exercise(
        "ps0-toy",
        "add",
        "Add",
        ("add",),
        (
            Misconception("subtracted", "The numbers are subtracted.", "def add(a, b): return a - b"),
            Misconception("multiplied", "The numbers are multiplied.", "def add(a, b): return a * b"),
        ),
    )
}
Grade = Callable[..., Graded]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Suite]:
    folder = tmp_path_factory.mktemp("suites")
    (folder / "ps0-toy").mkdir()
    for name, text in SUITES.items():
        (folder / "ps0-toy" / f"test_{name}.py").write_text(text)
    with Suite("ps0-toy", folder) as made:
        yield made


@pytest.fixture
def grade(suite: Suite) -> Grade:
    """Grade the toy notebook: answers that differ, how the sandbox behaves, a suite in its place."""

    def run(
        sandbox: FakeSandbox | None = None, of: Any = suite, extras: tuple[str, ...] = (), **answers: str
    ) -> Graded:
        data = notebook({**ANSWERS, **answers})
        data["cells"] += [extra(source) for source in extras]
        engine = Engine(
            TEMPLATE, of, (sandbox or FakeSandbox()).as_sandbox(), Limits(), "secret", exercises=EXERCISES
        )
        return engine.grade(rebuild(raw(data), TEMPLATE), "ada")

    return run


def exercise(graded: Graded, name: str = "add") -> ExerciseResult:
    (one,) = (one for one in graded.report.exercises if one.grade_id == f"{name}_checks")
    return one


def outcomes(graded: Graded, name: str = "add") -> list[Outcome]:
    return [check.outcome for check in exercise(graded, name).checks]


def checks(graded: Graded, name: str = "add") -> dict[str, CheckResult]:
    return {check.name: check for check in exercise(graded, name).checks}


def test_right_answers_earn_every_point(grade: Grade) -> None:
    report = grade().report
    assert (report.student, report.assignment, report.notebook) == ("ada", "ps0-toy", "toy")
    assert (report.score, report.max_score) == (5.0, 6.0), "the written answer is marked by a person"
    assert report.outcome is Outcome.PASSED
    assert report.repairs == ()
    assert report.sandbox == ("fake layer",)
    assert [one.grade_id for one in report.exercises] == ["add_checks", "pair_checks"]
    assert [one.max_points for one in report.exercises] == [2.0, 3.0]


def test_a_graded_submission_survives_the_round_trip(grade: Grade) -> None:
    graded = grade(add="def add(a, b): return 7")
    assert Graded.from_json(graded.to_json()) == graded


def test_points_are_shared_by_weight(grade: Grade) -> None:
    graded = grade(add="def add(a, b):\n    return a + b if a in range(10**5) else 0")
    assert [(check.outcome, check.points, check.max_points) for check in exercise(graded).checks] == [
        (Outcome.PASSED, 0.4, 0.4),
        (Outcome.FAILED, 0.0, 1.2),
        (Outcome.FAILED, 0.0, 0.4),
    ]
    assert exercise(graded).points == 0.4
    assert exercise(graded).outcome is Outcome.FAILED
    assert graded.report.score == 3.4


def test_a_wrong_answer_is_told_what_is_looked_at_and_never_a_value(grade: Grade) -> None:
    check = checks(grade(add="def add(a, b): return a + b + 1"))["large"]
    assert check.outcome is Outcome.FAILED
    assert check.message == "Large numbers are added. The number is not the right one."
    assert check.points == 0


def test_an_answer_to_an_impossible_input_is_told_so(grade: Grade) -> None:
    check = checks(grade(add="def add(a, b):\n    return a + b if not isinstance(a, str) else 0"))["texts"]
    assert check.outcome is Outcome.FAILED
    assert (
        check.message == "Texts are refused. An impossible input should raise TypeError, but got an answer."
    )


def test_an_exception_is_a_wrong_answer(grade: Grade) -> None:
    check = checks(grade(add="def add(a, b): raise KeyError(a)"))["small"]
    assert check.outcome is Outcome.FAILED
    assert check.message == "Small numbers are added. Your code raised KeyError (line 1 of the cell)."


def test_an_untouched_exercise_is_asked_nothing(grade: Grade) -> None:
    sandbox = FakeSandbox()
    stub = next(cell.source for cell in TEMPLATE.cells if cell.grade_id == "add")
    graded = grade(sandbox, add=stub)
    assert outcomes(graded) == [Outcome.NOT_ATTEMPTED] * 3
    assert {check.message for check in exercise(graded).checks} == {NOT_ATTEMPTED}
    assert exercise(graded).points == 0
    assert set(sandbox.asked) == {"first", "second"}
    assert graded.report.score == 3.0


def test_a_missing_name_is_a_wrong_answer(grade: Grade) -> None:
    graded = grade(add="def plus(a, b): return a + b")
    assert outcomes(graded) == [Outcome.FAILED] * 3
    assert "The name add is not defined" in checks(graded)["small"].message


@pytest.mark.parametrize(
    ("ends", "outcome"),
    [
        (StudentTimeout("It took too long."), Outcome.TIMEOUT),
        (StudentOutOfMemory("Too much memory."), Outcome.OUT_OF_MEMORY),
        (StudentCrashed("It ended."), Outcome.CRASHED),
    ],
)
def test_an_answer_cell_that_did_not_end_gives_its_outcome_to_its_checks(
    grade: Grade, ends: Any, outcome: Outcome
) -> None:
    sandbox = FakeSandbox(cells=lambda source: ends if source == ADD else None)
    graded = grade(sandbox)
    assert outcomes(graded) == [outcome] * 3
    assert f"The answer cell did not run to its end. {ends}" in checks(graded)["small"].message
    assert outcomes(graded, "pair") == [Outcome.PASSED] * 2, "other exercises are graded"


def test_after_two_calls_out_of_time_an_exercise_is_not_called_again(grade: Grade) -> None:
    sandbox = FakeSandbox(calls=lambda name: StudentTimeout("Late.") if name == "add" else None)
    graded = grade(sandbox)
    assert outcomes(graded) == [Outcome.TIMEOUT] * 3
    assert sandbox.asked.count("add") == 2
    assert outcomes(graded, "pair") == [Outcome.PASSED] * 2


def test_after_a_crash_an_exercise_is_not_called_again_and_the_next_one_is(grade: Grade) -> None:
    sandbox = FakeSandbox(calls=lambda name: StudentCrashed("Gone.") if name == "add" else None)
    graded = grade(sandbox)
    assert outcomes(graded) == [Outcome.CRASHED] * 3
    assert sandbox.asked.count("add") == 1
    assert outcomes(graded, "pair") == [Outcome.PASSED] * 2
    assert len(sandbox.sessions) == 2


def test_one_call_out_of_memory_spoils_its_own_check_only(grade: Grade) -> None:
    once = iter([StudentOutOfMemory("Too much.")])
    sandbox = FakeSandbox(calls=lambda name: next(once, None) if name == "add" else None)
    assert outcomes(grade(sandbox)) == [Outcome.OUT_OF_MEMORY, Outcome.PASSED, Outcome.PASSED]


# ---- whose fault it is ----


def faulty(raised: Exception, after: int | None = None) -> Any:
    """A suite whose checks raise: before they ask anything, or after so many answers."""
    check = Check("add", "broken", "A broken check.", 1.0, None)

    def run(one: Check, channel: Any, secret: str, experiments: Any) -> BaseException | None:
        for number in range(after or 0):
            try:
                channel.call("add", (number, 1), {})
            except Exception as error:
                return error
        return raised

    return cast(Suite, SimpleNamespace(checks=lambda name: [check], run=run))


ERRORS = [
    ValueError("ours"), TypeError("ours"), AssertionError("ours"), MemoryError(), RecursionError(),
    ZeroDivisionError(), OSError("disk"), KeyError("x"),
]  # fmt: skip


@pytest.mark.parametrize("raised", ERRORS, ids=lambda error: type(error).__name__)
def test_what_fails_before_a_question_is_our_error(grade: Grade, raised: Exception) -> None:
    graded = grade(of=faulty(raised))
    assert outcomes(graded) == [Outcome.ERROR]
    assert exercise(graded).checks[0].message == OUR_ERROR
    assert graded.trouble[0].startswith(f"add/broken: {type(raised).__name__}")
    assert graded.report.outcome is Outcome.ERROR
    with pytest.raises(GradingError, match=r"ada/ps0-toy: not graded, the fault is ours: add/broken"):
        refuse_error(graded)


@pytest.mark.parametrize("after", [1, 3])
@pytest.mark.parametrize("raised", ERRORS, ids=lambda error: type(error).__name__)
def test_what_fails_after_an_answer_is_never_our_error(grade: Grade, raised: Exception, after: int) -> None:
    graded = grade(of=faulty(raised, after))
    assert outcomes(graded) == [Outcome.CRASHED]
    assert exercise(graded).points == 0
    assert "after an answer" in graded.trouble[0]
    refuse_error(graded)


@pytest.mark.parametrize("raised", ERRORS, ids=lambda error: type(error).__name__)
def test_what_fails_while_a_reply_is_read_is_never_our_error(grade: Grade, raised: Exception) -> None:
    """A reply that can not be converted does not buy an error that keeps points."""
    sandbox = FakeSandbox(calls=lambda name: raised if name == "add" else None)
    graded = grade(sandbox)
    assert set(outcomes(graded)) == {Outcome.CRASHED}
    assert exercise(graded).points == 0


def test_a_fault_of_ours_does_not_pass_for_the_refusal_of_an_impossible_input(grade: Grade) -> None:
    sandbox = FakeSandbox(calls=lambda name: TypeError("in conversion") if name == "add" else None)
    assert checks(grade(sandbox))["texts"].outcome is Outcome.CRASHED


def test_a_wrong_answer_before_our_error_does_not_hide_it(grade: Grade) -> None:
    """Each check is judged by itself: one of ours is an error although another was failed."""
    wrong = WrongAnswer(Stage.VALUE, "No.")
    both = SimpleNamespace(
        checks=lambda name: [Check("add", n, "S.", 1.0, None) for n in ("wrong", "broken")],
        run=lambda check, channel, secret, experiments: (
            wrong if check.name == "wrong" else ValueError("ours")
        ),
    )
    graded = grade(of=both)
    assert outcomes(graded) == [Outcome.FAILED, Outcome.ERROR]
    assert graded.report.outcome is Outcome.ERROR


def test_a_missing_name_is_not_our_error_even_without_an_answer(grade: Grade) -> None:
    assert outcomes(grade(of=faulty(StudentMissing("add")))) == [Outcome.FAILED]


# ---- points ----


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([1.0, 1.0, 2.0, 3.0, 0.5]), st.booleans()), min_size=1, max_size=9),
)
def test_the_shares_of_the_checks_add_up(parts: list[tuple[float, bool]]) -> None:
    made = [Check("add", f"c{number}", "S.", weight, passed) for number, (weight, passed) in enumerate(parts)]
    stand_in = SimpleNamespace(
        checks=lambda name: made if name == "add" else made[:1],
        run=lambda check, channel, secret, experiments: (
            None if check.item else WrongAnswer(Stage.VALUE, "No.")
        ),
    )
    engine = Engine(
        TEMPLATE, cast(Suite, stand_in), FakeSandbox().as_sandbox(), Limits(), "s", exercises=EXERCISES
    )
    result = exercise(engine.grade(rebuild(raw(notebook(ANSWERS)), TEMPLATE), "ada"))
    share = sum(weight for weight, passed in parts if passed) / sum(weight for weight, _ in parts)
    assert 0 <= result.points <= result.max_points
    assert result.points == pytest.approx(2.0 * share, abs=1e-3)
    assert sum(check.max_points for check in result.checks) == pytest.approx(2.0, abs=1e-3)
    if share in (0, 1):
        assert result.points == 2.0 * share, "exactly"


# ---- names for misconceptions ----


def test_a_misconception_is_named_and_its_sentence_said_once(grade: Grade) -> None:
    graded = grade(add="def add(x, y):\n    return x - y")
    failed = [check for check in exercise(graded).checks if check.outcome is Outcome.FAILED]
    assert {check.misconception for check in failed} == {"subtracted"}
    assert [check.message for check in failed].count("The numbers are subtracted.") == 1
    assert failed[0].message == "The numbers are subtracted."
    assert all(check.misconception is None for check in exercise(graded).checks if check not in failed)


def test_another_wrong_answer_is_not_given_a_name(grade: Grade) -> None:
    graded = grade(add="def add(a, b):\n    return a - b if a < 100 else a * b")
    assert {check.misconception for check in exercise(graded).checks} == {None}


def test_a_right_answer_is_not_given_a_name(grade: Grade) -> None:
    assert {check.misconception for check in exercise(grade()).checks} == {None}


def test_an_exercise_without_a_catalogue_is_graded(grade: Grade) -> None:
    assert outcomes(grade(pair="first = 3\nsecond = 2"), "pair") == [Outcome.FAILED, Outcome.PASSED]


def test_the_courses_own_catalogue_is_the_default() -> None:
    sheet = AnswerSheet(ROOT, "ps1-convolution").only("output_size")
    wrong = load_exercises("ps1-convolution")["output_size"].misconceptions[0]
    with ExitStack() as stack:
        suite = stack.enter_context(Suite("ps1-convolution"))
        engine = Engine(sheet.template, suite, FakeSandbox().as_sandbox(), Limits(), "secret")
        graded = engine.grade(rebuild(sheet.bytes({"output_size": wrong.code}), sheet.template), "ada")
        full = engine.grade(rebuild(sheet.bytes(), sheet.template), "ada")
    assert wrong.name in {check.misconception for check in exercise(graded, "output_size").checks}
    assert full.report.score == 2.0


def test_a_name_that_a_later_cell_overwrites_is_asked_as_it_stood(grade: Grade) -> None:
    graded = grade(pair="first = 1\nsecond = 2\nadd = None")
    assert outcomes(graded) == [Outcome.PASSED] * 3


def test_repairs_and_notes_of_the_run_are_reported(grade: Grade) -> None:
    sandbox = FakeSandbox(cells=lambda source: StudentCrashed("x") if source == "deadly" else None)
    report = grade(sandbox, extras=("deadly", "import math")).report
    assert report.repairs == ("Cell 'environment' stood more than once; an unchanged copy was left out.",)
    assert report.score == 5.0


def test_every_process_is_closed_whatever_happens(grade: Grade) -> None:
    sandbox = FakeSandbox()
    broken = SimpleNamespace(checks=lambda name: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        grade(sandbox, of=broken)
    assert not any(session.alive for session in sandbox.sessions)

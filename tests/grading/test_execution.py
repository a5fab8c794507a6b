from __future__ import annotations

import time
from typing import Any

import pytest

from autograder.grading.execution import Execution, outcome_of
from autograder.grading.submission import Submission, rebuild
from autograder.results import Outcome
from autograder.sandbox.limits import Limits
from autograder.sandbox.student import (
    NotRejected,
    StudentCrashed,
    StudentFailure,
    StudentMissing,
    StudentOutOfMemory,
    StudentRaised,
    StudentTampered,
    StudentTimeout,
)

from .fakes import FakeSandbox
from .toy import ANSWERS, TEMPLATE, extra, notebook, raw


def submission(*extras: str, files: dict[str, bytes] | None = None, **answers: str) -> Submission:
    data = notebook({**ANSWERS, **answers})
    data["cells"][2:2] = [extra(source) for source in extras]
    return rebuild(raw(data), TEMPLATE, files)


def run(sandbox: FakeSandbox, given: Submission, **about: Any) -> Execution:
    limits = Limits(**{key: about.pop(key) for key in list(about) if hasattr(Limits, key)})
    execution = Execution(given, sandbox.as_sandbox(), limits, **about)
    execution.run()
    return execution


def test_code_is_run_once_in_order_and_text_is_not() -> None:
    sandbox = FakeSandbox()
    execution = run(sandbox, submission())
    assert sandbox.ran == [
        [cell.source for cell in submission().cells if cell.cell_type == "code"],
    ]
    assert [one.ran for one in execution.runs] == [cell.cell_type == "code" for cell in submission().cells]
    assert execution.layers == ("fake layer",)
    assert execution.notes == []


def test_an_exception_stops_no_other_cell() -> None:
    sandbox = FakeSandbox()
    execution = run(sandbox, submission("raise KeyError('x')"))
    failures = [one.failure for one in execution.runs if one.failure is not None]
    assert [str(one) for one in failures] == ["Your code raised KeyError (line 1 of the cell)."]
    assert len(sandbox.sessions) == 1
    assert ANSWERS["pair"] in sandbox.ran[0]


@pytest.mark.parametrize("kind", [StudentCrashed, StudentTimeout, StudentOutOfMemory])
def test_after_a_deadly_cell_a_new_process_runs_all_others(kind: type[StudentFailure]) -> None:
    sandbox = FakeSandbox(cells=lambda source: kind("gone") if source == "deadly" else None)
    execution = run(sandbox, submission("x = 1", "deadly"))
    first, second = sandbox.ran
    assert first[-1] == "deadly"
    assert "deadly" not in second
    assert second[:2] == first[:2]
    assert ANSWERS["pair"] in second
    (failed,) = [one for one in execution.runs if one.failure is not None]
    assert isinstance(failed.failure, kind)
    assert all(one.outputs for one in execution.runs if one.ran and one is not failed)
    assert execution.session() is not None


def test_what_was_shown_before_a_crash_is_not_shown_twice() -> None:
    sandbox = FakeSandbox(cells=lambda source: StudentCrashed("gone") if source == "deadly" else None)
    execution = run(sandbox, submission("x = 1", "deadly"))
    assert all(len(one.outputs) <= 1 for one in execution.runs)


def test_restarts_come_to_an_end() -> None:
    sandbox = FakeSandbox(
        cells=lambda source: StudentCrashed("gone") if source.startswith("deadly") else None
    )
    execution = run(sandbox, submission(*[f"deadly{n}" for n in range(9)]), restarts=3)
    assert len(sandbox.sessions) == 4
    assert execution.session() is None
    assert execution.notes == ["The submission used up its time or its restarts; later cells were not run."]


def test_the_submissions_time_comes_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def slow(source: str) -> None:
        now[0] += 60 if source == "slow" else 0

    sandbox = FakeSandbox(cells=slow)
    execution = run(sandbox, submission("slow", "slow", "slow", "late"), submission_seconds=100.0)
    assert sandbox.ran[0].count("slow") == 2
    assert "late" not in sandbox.ran[0]
    late = [one.failure for one in execution.runs if isinstance(one.failure, StudentTimeout)]
    assert late
    assert {str(one) for one in late} == {"The submission's time was over before this cell."}


def test_a_crash_while_a_check_is_made_does_not_end_the_next_one() -> None:
    sandbox = FakeSandbox()
    execution = run(sandbox, submission())
    first = execution.session()
    assert first is not None
    first.close()
    second = execution.session()
    assert second is not None
    assert second is not first
    assert sandbox.ran[0] == sandbox.ran[1]


def test_pictures_that_are_given_are_not_drawn_again() -> None:
    sandbox = FakeSandbox()
    drawn = {"environment": [{"output_type": "stream", "name": "stdout", "text": "drawn"}]}
    execution = run(sandbox, submission(), drawn=drawn)
    assert "import math" not in sandbox.ran[0]
    assert execution.runs[1].outputs == drawn["environment"]


def test_files_lie_beside_every_process_and_refused_ones_are_said_once() -> None:
    sandbox = FakeSandbox(
        cells=lambda source: StudentCrashed("gone") if source == "deadly" else None,
        refused=[("big.bin", "it is too large")],
    )
    execution = run(sandbox, submission("deadly", files={"data.csv": b"1", "big.bin": b"2"}))
    assert [session.files for session in sandbox.sessions] == [{"data.csv": b"1", "big.bin": b"2"}] * 2
    assert execution.notes == ["The file 'big.bin' was not given to the notebook: it is too large."]


def test_a_stub_that_is_answered_elsewhere_is_not_run() -> None:
    sandbox = FakeSandbox()
    data = notebook()
    data["cells"].append(extra(ANSWERS["add"]))
    run(sandbox, rebuild(raw(data), TEMPLATE))
    assert sum("NotImplementedError" in source for source in sandbox.ran[0]) == 1


def test_closing_ends_the_process() -> None:
    sandbox = FakeSandbox()
    execution = run(sandbox, submission())
    execution.close()
    execution.close()
    assert not sandbox.sessions[0].alive


@pytest.mark.parametrize(
    ("failed", "outcome"),
    [
        (StudentTimeout("x"), Outcome.TIMEOUT),
        (StudentOutOfMemory("x"), Outcome.OUT_OF_MEMORY),
        (StudentCrashed("x"), Outcome.CRASHED),
        (StudentRaised(("KeyError",), None), Outcome.FAILED),
        (StudentMissing("f"), Outcome.FAILED),
        (NotRejected("x"), Outcome.FAILED),
    ],
)
def test_every_failure_of_a_student_has_an_outcome_that_is_not_our_error(
    failed: StudentFailure, outcome: Outcome
) -> None:
    assert outcome_of(failed) is outcome


def test_nothing_is_asked_after_the_submissions_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    sandbox = FakeSandbox()
    execution = run(sandbox, submission(), submission_seconds=100.0)
    assert execution.session() is not None
    now[0] += 101
    assert execution.session() is None
    assert not sandbox.sessions[0].alive, "it is ended from outside"
    assert len(sandbox.sessions) == 1


def test_what_cannot_be_stopped_three_times_is_not_run_a_fourth_time() -> None:
    sandbox = FakeSandbox(cells=lambda source: StudentTimeout("deaf") if source.startswith("deaf") else None)
    execution = run(sandbox, submission(*[f"deaf{n}" for n in range(5)]))
    assert len(sandbox.sessions) == 3
    assert execution.session() is None
    assert isinstance(execution.ended, StudentTimeout)
    assert execution.notes == [str(execution.ended)]


def test_a_proof_of_tampering_ends_everything() -> None:
    sandbox = FakeSandbox(cells=lambda source: StudentTampered("forged") if source == "forges" else None)
    execution = run(sandbox, submission("forges"))
    assert len(sandbox.sessions) == 1
    assert execution.session() is None
    assert execution.notes == ["forged"]


def test_a_process_apart_starts_at_one_of_a_few_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its clock must not tell how long the questions took."""
    now, started = [1000.0], []
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    for took in (0.0, 0.01, 0.2, 0.9, 3.0, 17.0, 31.0, 500.0):
        execution = run(FakeSandbox(), submission(), submission_seconds=100.0)
        execution.expect(set())
        asked = now[0]
        now[0] += took
        execution.apart()
        started.append(round(now[0] - asked, 3))
    assert started[:5] == [0.125, 0.125, 0.25, 1.0, 4.0]
    assert started[5:7] == [32.0, 32.0]
    assert started[7] == 500.0, "not later than the time of the questions"


def test_a_process_apart_runs_the_cells_anew_without_the_deadly_one() -> None:
    sandbox = FakeSandbox(cells=lambda source: StudentCrashed("gone") if source == "deadly" else None)
    execution = run(sandbox, submission("x = 1", "deadly"))
    execution.expect(set())
    before = [one.outputs for one in execution.runs]
    apart = execution.apart()
    assert apart is execution.apart()
    assert apart.session() is not execution.session()
    assert "x = 1" in sandbox.ran[-1]
    assert "deadly" not in sandbox.ran[-1]
    assert [one.outputs for one in execution.runs] == before
    execution.close()
    assert not any(session.alive for session in sandbox.sessions)


def test_what_a_cell_does_after_a_question_is_not_shown() -> None:
    """A new process after a crash in a check may do otherwise: that would tell of the question."""
    deadly: list[str] = []
    sandbox = FakeSandbox(cells=lambda source: StudentCrashed("told") if source in deadly else None)
    execution = run(sandbox, submission("x = 1"))
    first = execution.session()
    assert first is not None
    first.close()
    deadly.append("x = 1")
    assert execution.session() is not None
    assert execution.notes == []
    assert all(one.failure is None for one in execution.runs)


def test_outputs_of_all_cells_together_are_bounded() -> None:
    sandbox = FakeSandbox()
    execution = run(sandbox, submission(*[f"x = {n}" for n in range(50)]), notebook_output_size=2_000)
    shown = [one["text"] for run_ in execution.runs for one in run_.outputs]
    assert sum("left out" in text for text in shown) > 30
    assert "ran" in shown[0]


def test_what_is_deadly_after_a_question_is_not_known_to_the_process_apart() -> None:
    """A cell that a replay chose to die in would tell by its absence."""
    deadly = ["y = 2"]
    sandbox = FakeSandbox(cells=lambda source: StudentCrashed("gone") if source in deadly else None)
    execution = run(sandbox, submission("x = 1", "y = 2"))
    execution.expect(set())
    session = execution.session()
    assert session is not None
    session.close()
    deadly.append("x = 1")
    assert execution.session() is not None
    deadly.remove("x = 1")
    execution.apart()
    assert "x = 1" in sandbox.ran[-1]
    assert "y = 2" not in sandbox.ran[-1]

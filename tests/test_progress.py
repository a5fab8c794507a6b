from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from autograder.batch.local import Done
from autograder.progress import GradingProgress
from autograder.results import GradeReport


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def done(student: str, ok: bool = True) -> Done:
    report = GradeReport(student, "ps", "toy", 1.5, 2.0, 0.0, (), (), 0.25) if ok else None
    return Done(student, report, "k", () if ok else ("it was lost\nfor good",))


@pytest.fixture
def clock() -> Clock:
    return Clock()


def grade(clock: Clock, console: Console, quiet: bool = False, log: Path | None = None) -> None:
    with GradingProgress(console, 4, 2, quiet, log, clock) as progress:
        progress.note("a class")
        progress.add(done("ann"), known=True)
        for student in ("bob", "eve", "zoe"):
            clock.now += 6.0
            progress.add(done(student, ok=student != "eve"))


def test_a_pipe_gets_plain_lines_now_and_then(clock: Clock) -> None:
    out = io.StringIO()
    grade(clock, Console(file=out, width=40))
    assert out.getvalue().splitlines() == [
        "3 of 4 submissions done, 1 running, 1 failed, 0.2 a second, 6 s to go",
        "4 of 4 submissions done, 0 running, 1 failed, 0.2 a second, 0 s to go",
    ]


def test_a_terminal_gets_a_bar(clock: Clock) -> None:
    out = io.StringIO()
    grade(clock, Console(file=out, width=100, force_terminal=True))
    assert "4/4" in out.getvalue()
    assert "failed 1" in out.getvalue()
    assert "0.2/s" in out.getvalue()


def test_quiet_says_nothing_and_keeps_the_log(clock: Clock, tmp_path: Path) -> None:
    out = io.StringIO()
    log = tmp_path / "deep" / "grading.log"
    grade(clock, Console(file=out), quiet=True, log=log)
    grade(clock, Console(file=out, force_terminal=True), quiet=True, log=log)
    assert out.getvalue() == ""
    lines = [line.split(" ", 2)[2] for line in log.read_text().splitlines()]
    assert lines[:5] == [
        "a class",
        "ann kept passed, 1.5 of 2 points, 0.25 s",
        "bob graded passed, 1.5 of 2 points, 0.25 s",
        "eve graded no result; it was lost?for good",
        "zoe graded passed, 1.5 of 2 points, 0.25 s",
    ]
    assert lines[5:] == lines[:5]


def test_the_log_says_why_a_run_stopped(clock: Clock, tmp_path: Path) -> None:
    log = tmp_path / "grading.log"
    with pytest.raises(OSError, match="full"), GradingProgress(Console(quiet=True), 4, 2, log=log):
        raise OSError("the disk is full")
    assert log.read_text().endswith("stopped: OSError: the disk is full\n")

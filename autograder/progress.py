"""What a person sees while a class is graded: a bar, plain lines on a pipe, or nothing; and a log."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from rich.console import Console

from autograder.batch.local import Done

#: Seconds between two plain lines.
_EVERY = 10.0


class GradingProgress:
    """Counts submissions. Use as a context manager."""

    def __init__(
        self,
        console: Console,
        total: int,
        workers: int,
        quiet: bool = False,
        log: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`log`: a file that gets one line a submission, after what is in it."""
        self._console = console
        self._total = total
        self._workers = workers
        self._quiet = quiet
        self._log_path = log
        self._log: TextIO | None = None
        self._clock = clock
        self._started = self._said = clock()
        self._done = self._known = self._failed = 0
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> GradingProgress:
        if self._log_path is not None:
            self._log_path.parent.mkdir(parents=True, exist_ok=True)
            self._log = self._log_path.open("a", encoding="utf-8")
        if self._console.is_terminal and not self._quiet:
            self._bar, self._task = _bar(self._console, self._total)
            self._bar.start()
            self._show()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._log is not None:
            if error is not None:
                self._write(f"stopped: {type(error).__name__}: {error}")
            self._log.close()

    def add(self, done: Done, known: bool = False) -> None:
        """One more submission; `known`: its result was in the store."""
        self._done += 1
        self._known += known
        self._failed += not done.ok
        self._write(f"{done.student} {'kept' if known else 'graded'} {_ended(done)}")
        self._show()

    def note(self, text: str) -> None:
        """A line for the log alone."""
        self._write(text)

    @property
    def words(self) -> str:
        """Where it stands, as a plain line."""
        running = min(self._workers, self._total - self._done)
        text = f"{self._done} of {self._total} submissions done, {running} running, {self._failed} failed"
        graded, seconds = self._done - self._known, self._clock() - self._started
        if graded > 0 and seconds > 0:
            left = (self._total - self._done) * seconds / graded
            text += f", {graded / seconds:.1f} a second, {left:.0f} s to go"
        return text

    def _show(self) -> None:
        if self._bar is not None:
            graded, seconds = self._done - self._known, self._clock() - self._started
            self._bar.update(
                self._task,
                completed=self._done,
                failed=self._failed,
                running=min(self._workers, self._total - self._done),
                rate=f"{graded / seconds:.1f}/s" if graded and seconds > 0 else "",
            )
        elif not self._quiet and (self._clock() - self._said >= _EVERY or self._done == self._total):
            self._said = self._clock()
            self._console.print(self.words, highlight=False, markup=False, soft_wrap=True)

    def _write(self, text: str) -> None:
        if self._log is not None:
            line = "".join(char if char.isprintable() else "?" for char in text)
            self._log.write(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} {line}\n")
            self._log.flush()


def _ended(done: Done) -> str:
    words = "no result"
    if done.report is not None:
        words = f"{done.report.outcome.value}, {done.report.score:g} of {done.report.max_score:g} points"
        words += f", {done.report.seconds:.2f} s"
    return "; ".join([words, *done.trouble])


def _bar(console: Console, total: int) -> tuple[Any, Any]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("Grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("running {task.fields[running]}"),
        TextColumn("failed {task.fields[failed]}"),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )
    return bar, bar.add_task("grading", total=total, failed=0, running=0, rate="")

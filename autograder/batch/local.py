"""The local executor: a few worker processes, each with its own sandbox, suites and reference.

A worker that dies takes one submission's result with it, never the batch: the submission is
reported as our error and a new worker goes on.
"""

from __future__ import annotations

import json
import multiprocessing
import os
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from autograder.batch.course import Course, Grader, Options
from autograder.batch.folder import read_folder
from autograder.batch.plan import Job
from autograder.errors import DeepdrillsError, UsageError
from autograder.results import GradeReport, Outcome
from autograder.sandbox.limits import Limits


@dataclass(frozen=True)
class Done:
    """The end of one job: a report and its key in the store, or the words of an error of ours."""

    student: str
    report: GradeReport | None
    key: str = ""
    trouble: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return self.report is not None and self.report.outcome is not Outcome.ERROR


def grade_all(
    course: Course, assignment: str, jobs: list[Job], options: Options, workers: int, force: bool = False
) -> Iterator[Done]:
    """Grade every job on `workers` processes; yields each as it ends, in no particular order.

    Raises the first `DeepdrillsError` that keeps a worker from starting: nothing could be graded.
    Later ones end the worker, and one submission with it.
    """
    waiting = deque(jobs)
    settings = {
        "root": str(course.root),
        "assignment": assignment,
        "limits": options.limits.to_json(),
        "allow_degraded": options.allow_degraded,
        "rerun_experiments": options.rerun_experiments,
        "force": force,
    }
    team: dict[Connection, _Member] = {}
    try:
        for _ in range(min(workers, len(jobs))):
            member = _Member(settings)
            team[member.connection] = member
            member.give(waiting)
        while team:
            for connection in wait(list(team)):
                assert isinstance(connection, Connection)
                member = team[connection]
                done = member.take()
                if done is not None:
                    yield done
                if member.dead:
                    member.end()
                    del team[connection]
                    if waiting:
                        fresh = _Member(settings)
                        team[fresh.connection] = fresh
                        fresh.give(waiting)
                elif not member.give(waiting):
                    member.end()
                    del team[connection]
    finally:
        for member in team.values():
            member.end(now=True)


class _Member:
    """One worker process and the job that it has."""

    def __init__(self, settings: dict[str, Any]) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=_serve, args=(theirs, settings), daemon=True)
        self.process.start()
        theirs.close()
        self.job: Job | None = None
        self.dead = False

    def give(self, waiting: deque[Job]) -> bool:
        if not waiting:
            return False
        self.job = waiting.popleft()
        try:
            self.connection.send_bytes(json.dumps(asdict(self.job)).encode())
        except OSError:
            pass  # it has died: `take` will see the end of the pipe
        return True

    def take(self) -> Done | None:
        job, self.job = self.job, None
        try:
            answer = json.loads(self.connection.recv_bytes())
        except (EOFError, OSError):
            self.dead = True
            if job is None:
                return None
            self.process.join(5)
            return Done(
                job.student, None, trouble=(f"a grading process ended with code {self.process.exitcode}",)
            )
        if "refused" in answer:
            if not answer["started"]:
                raise (UsageError if answer["usage"] else DeepdrillsError)(answer["refused"])
            assert job is not None
            self.dead = True
            return Done(job.student, None, trouble=(answer["refused"],))
        report = GradeReport.from_json(answer["report"]) if answer["report"] else None
        return Done(answer["student"], report, answer["key"], tuple(answer["trouble"]))

    def end(self, now: bool = False) -> None:
        self.connection.close()
        if now:
            self.process.terminate()
        self.process.join(15)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def _serve(connection: Connection, settings: dict[str, Any]) -> None:
    """In the worker: grade what is given until the pipe is closed."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    options = Options(Limits(**settings["limits"]), settings["allow_degraded"], settings["rerun_experiments"])
    course = Course(Path(settings["root"]))
    started = False
    try:
        with Grader(course, settings["assignment"], options) as grader:
            while True:
                try:
                    job = Job(**json.loads(connection.recv_bytes()))
                except (EOFError, OSError):
                    return
                connection.send_bytes(json.dumps(_grade(grader, job, settings["force"])).encode())
                started = True
    except DeepdrillsError as error:
        refusal = {"refused": str(error), "usage": isinstance(error, UsageError), "started": started}
        connection.send_bytes(json.dumps(refusal).encode())
    except KeyboardInterrupt:
        return


def _grade(grader: Grader, job: Job, force: bool) -> dict[str, Any]:
    try:
        handed = read_folder(Path(job.folder), grader.template.notebook)
        key = grader.key(grader.submission(handed))
        graded = grader.grade(handed, job.student, force=force)
    except DeepdrillsError:
        raise
    except Exception as error:  # an error of ours stops this submission and no other
        return {
            "student": job.student,
            "report": None,
            "key": "",
            "trouble": [f"{type(error).__name__}: {error}"],
        }
    return {
        "student": job.student,
        "report": graded.report.to_json(),
        "key": key,
        "trouble": list(graded.trouble),
    }

"""The local executor: a few worker processes, each with its own sandbox, forked from one nursery.

A worker that dies takes one submission's result with it, never the batch: the submission is
reported as our error and a new worker goes on.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from autograder.batch.course import Course, Grader, Options
from autograder.batch.folder import read_folder, said_of
from autograder.batch.nursery import Nursery, refusal
from autograder.batch.plan import Job
from autograder.errors import DeepdrillsError, DiskFullError, UsageError, no_room
from autograder.results import GradeReport, Outcome

#: Jobs that a worker has: the one that it grades, and one more, so that it need not wait for us.
_AHEAD = 2


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


class Crew:
    """The nursery of a run, which may be started before it is known what there is to grade."""

    def __init__(self, course: Course, assignment: str, options: Options, force: bool = False) -> None:
        self.settings = {
            "root": str(course.root),
            "assignment": assignment,
            "limits": options.limits.to_json(),
            "allow_degraded": options.allow_degraded,
            "rerun_experiments": options.rerun_experiments,
            "force": force,
        }
        self._nursery: Nursery | None = None
        self._dismissed: list[Nursery] = []

    def start(self) -> None:
        """Let it import everything meanwhile; once is enough."""
        if self._nursery is None:
            self._nursery = Nursery(_serve, self.settings)

    def take(self) -> Nursery:
        """The nursery, which is the taker's to end or to give back."""
        self.start()
        assert self._nursery is not None
        nursery, self._nursery = self._nursery, None
        return nursery

    def give_back(self, nursery: Nursery) -> None:
        """It has nothing to do any more, and ends while other things are done."""
        nursery.dismiss()
        self._dismissed.append(nursery)

    def close(self) -> None:
        """End what nobody took, and wait until all have ended."""
        while self._dismissed:
            self._dismissed.pop().close()
        if self._nursery is not None:
            self._nursery.close(now=True)
            self._nursery = None


def grade_all(
    course: Course,
    assignment: str,
    jobs: list[Job],
    options: Options,
    workers: int,
    force: bool = False,
    crew: Crew | None = None,
) -> Iterator[Done]:
    """Grade every job on `workers` processes; yields each as it ends, in no particular order.

    The processes start at once, not with the first question for a result. `crew`: started before.
    Raises the first `DeepdrillsError` that keeps a worker from starting: nothing could be graded;
    and `DiskFullError`. Other ones end the worker, and one submission with it.
    """
    team = _Team(crew or Crew(course, assignment, options, force), jobs, crew is None)
    try:
        for _ in range(min(workers, len(jobs))):
            team.hire()
    except BaseException:
        team.end()
        raise
    return team.results()


class _Team:
    """The workers, and the jobs that none of them has yet."""

    def __init__(self, crew: Crew, jobs: list[Job], own: bool) -> None:
        """`own`: whether the crew is this team's to close."""
        self._crew = crew
        self._own = own
        self._waiting = deque(jobs)
        self._members: dict[Connection, _Member] = {}
        self._nursery: Nursery | None = None

    def hire(self) -> None:
        if self._nursery is not None and not self._nursery.alive:
            self._nursery.close()
            self._nursery = None
        if self._nursery is None:
            self._nursery = self._crew.take()
        member = _Member(self._nursery)
        self._members[member.connection] = member
        self._supply(member)

    def results(self) -> Iterator[Done]:
        try:
            while self._members:
                for connection in wait(list(self._members)):
                    assert isinstance(connection, Connection)
                    member = self._members[connection]
                    done = member.take()
                    if member.dead:
                        self._replace(member)
                    else:
                        self._supply(member)
                        if not member.jobs:
                            member.connection.close()
                            del self._members[connection]
                    if done is not None:
                        yield done
            self.end(now=False)
        finally:
            self.end()

    def end(self, now: bool = True) -> None:
        for member in self._members.values():
            member.connection.close()
        self._members.clear()
        if self._nursery is not None:
            if now:
                self._nursery.close(now)
            else:
                self._crew.give_back(self._nursery)
            self._nursery = None
        if self._own:
            self._crew.close()

    def _supply(self, member: _Member) -> None:
        # The last jobs are spread: one more in hand would be one less for an idle colleague.
        ahead = _AHEAD if len(self._waiting) > len(self._members) else 1
        while self._waiting and len(member.jobs) < ahead:
            member.give(self._waiting.popleft())

    def _replace(self, member: _Member) -> None:
        self._waiting.extendleft(reversed(member.jobs))
        member.connection.close()
        del self._members[member.connection]
        if self._waiting:
            self.hire()


class _Member:
    """One worker and the jobs that it has, the one in hand first."""

    def __init__(self, nursery: Nursery) -> None:
        self.connection = nursery.worker()
        self.jobs: deque[Job] = deque()
        self.dead = False
        self._nursery = nursery
        self._pid: int | None = None

    def give(self, job: Job) -> None:
        self.jobs.append(job)
        try:
            self.connection.send_bytes(json.dumps(asdict(job)).encode())
        except OSError:
            pass  # it has died: `take` will see the end of the pipe

    def take(self) -> Done | None:
        try:
            answer = json.loads(self.connection.recv_bytes())
        except (EOFError, OSError):
            self.dead = True
            if not self.jobs:
                return None
            code = self._nursery.exit_code(self._pid)
            words = f"a grading process ended with code {code}"
            return Done(self.jobs.popleft().student, None, trouble=(words,))
        if "pid" in answer:
            self._pid = answer["pid"]
            return None
        if "refused" in answer:
            if answer["kind"] == DiskFullError.__name__:
                raise DiskFullError(answer["place"])
            if not answer["started"]:
                raise (UsageError if answer["kind"] == UsageError.__name__ else DeepdrillsError)(
                    answer["refused"]
                )
            self.dead = True
            return Done(self.jobs.popleft().student, None, trouble=(answer["refused"],))
        self.jobs.popleft()
        report = GradeReport.from_json(answer["report"]) if answer["report"] else None
        return Done(answer["student"], report, answer["key"], tuple(answer["trouble"]))


def _serve(connection: Connection, grader: Grader, settings: dict[str, Any]) -> None:
    """In the worker: grade what is given until the pipe is closed."""
    started = False
    try:
        while True:
            try:
                job = Job(**json.loads(connection.recv_bytes()))
            except (EOFError, OSError):
                return
            answer = _grade(grader, job, settings["force"])
            if not started and grader.note:
                answer["trouble"].append(grader.note)
            connection.send_bytes(json.dumps(answer).encode())
            started = True
    except (BrokenPipeError, ConnectionResetError):
        return  # the parent has gone; what is graded is in the store
    except (DeepdrillsError, OSError) as error:
        connection.send_bytes(json.dumps(refusal(error, grader.course.root, started)).encode())


def _grade(grader: Grader, job: Job, force: bool) -> dict[str, Any]:
    try:
        handed = read_folder(Path(job.folder), grader.template.notebook)
        key = grader.key(grader.submission(handed))
        graded = grader.grade(handed, job.student, force=force)
    except DeepdrillsError:
        raise
    except Exception as error:  # an error of ours stops this submission and no other
        if no_room(error):
            raise
        return {
            "student": job.student,
            "report": None,
            "key": "",
            "trouble": [said_of(error)],
        }
    return {
        "student": job.student,
        "report": graded.report.to_json(),
        "key": key,
        "trouble": list(graded.trouble),
    }

"""The cluster's executor: maps the same grading over the workers of a Dask scheduler.

A worker takes work after it has shown the same versions as this process and proved every layer of its
sandbox. One worker has one or two submissions at a time; those of a worker that is lost go to another.
Which worker does what is decided here and not by Dask, which would give work to a worker that has not
proved anything, and would not say which one was refused.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from autograder.batch.cluster_content import Content
from autograder.batch.cluster_team import LOOK_SECONDS, Team, words_of
from autograder.batch.course import Course, Options
from autograder.batch.desk import Desk, Task
from autograder.batch.local import Done
from autograder.batch.plan import Job
from autograder.errors import DeepdrillsError, UsageError
from autograder.grading.graded import Graded

if TYPE_CHECKING:
    from distributed import Client

#: Workers that may be lost with a submission before it is given up.
_LOSSES = 3
_CONNECT_SECONDS = 20.0
#: How long others may still join when all the workers that are there are refused.
_REFUSED_SECONDS = 5.0
_ADDRESS = re.compile(r"(?:tcp|tls|ws|wss|ucx)://(?P<host>.+):\d+")


class ClusterError(DeepdrillsError):
    """The cluster can not grade, or can not go on; what was graded is kept."""


def grade_on_cluster(
    course: Course,
    assignment: str,
    jobs: list[Job],
    options: Options,
    scheduler: str,
    force: bool = False,
    say: Callable[[str], None] = lambda words: None,
    patience: float = 60.0,
) -> Iterator[Done]:
    """Grade every job on the workers of `scheduler`; yields each as it ends, in no particular order.

    `say` is told of refused and lost workers. `patience`: seconds to wait while no worker may take work.
    Raises `UsageError` for a wrong address or without Dask, `ClusterError` when no worker is left to
    wait for.
    """
    desk = Desk(course, assignment, jobs, options, force)
    yield from desk.settled()
    if desk.empty:
        return
    with _connected(scheduler, say) as client:
        team = Team(client, Content.of(course, assignment, options, desk.secret), say)
        try:
            yield from _run(desk, team, patience, scheduler)
        finally:
            team.dismiss()


def _run(desk: Desk, team: Team, patience: float, scheduler: str) -> Iterator[Done]:
    hopeful_at = time.monotonic()
    while not desk.empty or team.busy:
        try:
            lost = team.look()
        except Exception as error:  # Dask raises what its sockets, its timeouts and its shutdown raise
            raise ClusterError(
                f"{scheduler}: the scheduler no longer answers ({words_of(error)}). {_left(desk, team)}"
            ) from error
        for task in lost:
            yield from _again(desk, task, "its worker ended")
        if team.hopeful:
            hopeful_at = time.monotonic()
        elif desk.empty:
            return  # what was lost last was given up
        elif time.monotonic() - hopeful_at > min(patience, _REFUSED_SECONDS if team.refusals else patience):
            raise ClusterError(_nobody(team, scheduler) + " " + _left(desk, team))
        for member in team.idle(plenty=len(desk) > team.ready):
            yield from desk.settled()
            next_one = desk.take()
            if next_one is None:
                break
            team.give(member, next_one)
        ended = team.wait(LOOK_SECONDS)
        if ended is not None:
            task, answer = ended
            if "lost" in answer:
                yield from _again(desk, task, answer["lost"])
            elif "graded" in answer:
                yield desk.done(task, Graded.from_json(answer["graded"]))
            else:
                yield Done(task.student, None, trouble=tuple(answer["trouble"]))


def _again(desk: Desk, task: Task, why: str) -> Iterator[Done]:
    """Put a lost submission back; one that several workers were lost with is given up."""
    task.losses += 1
    if task.losses < _LOSSES:
        desk.give_back(task)
    else:
        words = f"given up: {_LOSSES} workers were lost while they graded it (the last time: {why})"
        yield Done(task.student, None, trouble=(words,))


def _nobody(team: Team, scheduler: str) -> str:
    if team.refusals:
        reasons = "; ".join(f"{address}: {why}" for address, why in sorted(team.refusals.items()))
        return f"{scheduler}: every worker is refused: {reasons}."
    return (
        f"{scheduler}: no worker has joined. Start some, one a core: "
        f"'dask worker {scheduler} --nworkers 4 --nthreads 1' (see docs/cluster.md)."
    )


def _left(desk: Desk, team: Team) -> str:
    left = len(desk) + team.under_way
    return (
        f"{left} submissions are not graded; results so far are kept, so the same command goes on from here."
    )


@contextmanager
def _connected(scheduler: str, say: Callable[[str], None]) -> Iterator[Client]:
    """A client of the scheduler. Raises `UsageError` or `ClusterError` where there is none to be had."""
    address = _ADDRESS.fullmatch(scheduler)
    if address is None:
        raise UsageError(
            f"--scheduler {scheduler}: this is no address of a Dask scheduler. "
            "Give it as tcp://host:port or tls://host:port, as the scheduler prints it."
        )
    try:
        from distributed import Client
    except ImportError as error:
        raise UsageError(
            f"--scheduler needs Dask, which is not installed here ({error}). "
            "Install it with: pip install 'deepdrills[cluster]'"
        ) from error
    if scheduler.startswith(("tcp:", "ws:")) and address["host"] not in ("127.0.0.1", "localhost", "[::1]"):
        say(
            f"{scheduler} is not encrypted: submissions and the course's secret can be read on the way, and "
            "whoever reaches the scheduler can run code. On a network that you share, use tls://."
        )
    try:
        client = Client(scheduler, timeout=_CONNECT_SECONDS, set_as_default=False, name="deepdrills")
    except Exception as error:  # sockets, timeouts, certificates: each has its own class
        raise ClusterError(
            f"{scheduler}: no scheduler could be reached there ({words_of(error)}). "
            "Start one with 'dask scheduler', or mend the address."
        ) from error
    try:
        yield client
    finally:
        with suppress(Exception):  # a scheduler that has gone can not be told good-bye
            client.close(timeout=5)

"""What becomes of workers that differ, can not confine, fail or vanish; without processes."""

from __future__ import annotations

import builtins
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.batch import cluster, cluster_team, cluster_worker
from autograder.batch.cluster import ClusterError, grade_on_cluster
from autograder.batch.cluster_content import Build
from autograder.batch.course import Course, Options
from autograder.batch.local import Done
from autograder.batch.plan import Job
from autograder.errors import UsageError

from .fake_dask import FakeClient, FakeFuture, FakeStation, at, lost
from .small_course import ASSIGNMENT

ADDRESS = "tcp://127.0.0.1:8786"


class Run:
    """Grades a few empty submissions on a fake cluster; remembers what was said."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.course = Course(root)
        self.said: list[str] = []
        self._monkeypatch = monkeypatch

    def __call__(self, client: FakeClient, students: int = 3, patience: float = 0.0) -> dict[str, Done]:
        @contextmanager
        def connected(scheduler: str, say: Any) -> Iterator[FakeClient]:
            yield client

        self._monkeypatch.setattr(cluster, "_connected", connected)
        jobs = [Job(f"s{n}", str(self.course.root / "submitted" / f"s{n}")) for n in range(students)]
        ends = grade_on_cluster(
            self.course, ASSIGNMENT, jobs, Options(), ADDRESS, True, self.said.append, patience
        )
        return {done.student: done for done in ends}

    @property
    def words(self) -> str:
        return " | ".join(self.said)


@pytest.fixture
def run(root: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(cluster_team, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(cluster, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(cluster, "_REFUSED_SECONDS", 0.0)
    return Run(root, monkeypatch)


def by(done: dict[str, Done]) -> set[str]:
    """Who has graded (a fake worker puts its address for the notebook's name)."""
    return {one.report.notebook for one in done.values() if one.report is not None}


def test_a_worker_is_asked_then_proved_then_given_work_and_dismissed(run: Run) -> None:
    client = FakeClient(a=None)
    done = run(client, students=2)
    assert [one.ok for one in done.values()] == [True, True]
    steps = [step for address, step in client.sent if address == "a"]
    assert steps == ["describe", "prepare", "verdict", "grade", "grade", "close"]
    assert client.sent.count(("", "keep")) == 1, "the content is sent once"
    assert client.stations[0].closed


def _other_build(**changes: Any) -> FakeFuture:
    return FakeFuture(json.dumps(replace(Build.here(), **changes).to_json()))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"deepdrills": "0.0.1"}, "deepdrills is 0.0.1 there and "),
        ({"python": "3.9"}, "Python is 3.9 there and "),
        ({"packages": {"torch": "1.0", "numpy": Build.here().packages["numpy"]}}, "torch is 1.0 there and "),
        ({"packages": {}}, "torch is none there and "),
        ({"code": "other"}, "suites or grading code differ"),
    ],
)
def test_a_worker_with_other_versions_is_refused_and_the_others_go_on(
    run: Run, changes: dict[str, Any], words: str
) -> None:
    client = FakeClient(old=at(cluster_worker.describe, lambda *_: _other_build(**changes)), good=None)
    assert by(run(client)) == {"good"}
    assert "worker old is refused: " in run.words
    assert words in run.words
    assert "Install the same there as here" in run.words
    assert ("old", "prepare") not in client.sent


def test_a_worker_without_deepdrills_is_refused(run: Run) -> None:
    error = ModuleNotFoundError("No module named 'autograder'")
    client = FakeClient(bare=at(cluster_worker.describe, lambda *_: FakeFuture(error=error)), good=None)
    assert by(run(client)) == {"good"}
    assert "deepdrills can not be run there (ModuleNotFoundError: No module named 'autograder')" in run.words


def test_workers_that_can_not_confine_grade_nothing_and_are_named_with_their_layers(run: Run) -> None:
    why = "sandbox layer missing: landlock (not available), seccomp (no such call)"
    script = at(cluster_worker.prepare, lambda _, address: FakeFuture(FakeStation(address, why)))
    with pytest.raises(ClusterError) as caught:
        run(FakeClient(a=script, b=script))
    assert f"every worker is refused: a: {why}; b: {why}" in str(caught.value)
    assert "3 submissions are not graded" in str(caught.value)


def test_a_lost_workers_submissions_are_done_again_elsewhere(run: Run) -> None:
    client = FakeClient(a=at(cluster_worker.grade, lost), b=None)
    done = run(client, students=5)
    assert len(done) == 5
    assert all(one.ok for one in done.values())
    assert by(done) == {"b"}
    assert "worker a was lost; its " in run.words
    assert "submissions are done again elsewhere" in run.words


def test_three_losses_are_the_end_of_a_submission(run: Run) -> None:
    script = at(cluster_worker.grade, lost)
    done = run(FakeClient(a=script, b=script, c=script), students=1)
    assert not done["s0"].ok
    assert done["s0"].trouble == (
        "given up: 3 workers were lost while they graded it (the last time: its worker ended)",
    )


def test_when_every_worker_is_lost_what_is_left_is_said(run: Run) -> None:
    with pytest.raises(
        ClusterError, match=r"no worker has joined.*dask worker .*1 submissions are not graded"
    ):
        run(FakeClient(a=at(cluster_worker.grade, lost)), students=1)


def test_a_station_that_fails_is_proved_again_and_refused_when_it_fails_for_good(run: Run) -> None:
    refused = FakeFuture(json.dumps({"refused": "the sandbox is not started"}).encode())
    times: list[str] = []

    def once(client: FakeClient, address: str) -> FakeFuture | None:
        times.append(address)
        return refused if len(times) == 1 else None

    client = FakeClient(a=at(cluster_worker.grade, once))
    assert all(one.ok for one in run(client).values())
    assert "worker a has lost its sandbox (the sandbox is not started); it is set up again" in run.words
    assert client.sent.count(("a", "prepare")) == 2

    with pytest.raises(ClusterError, match="every worker is refused: a: the sandbox is not started"):
        run(FakeClient(a=at(cluster_worker.grade, lambda *_: refused)), students=5)


@pytest.mark.parametrize("step", [cluster_worker.grade, cluster_worker.describe, cluster_worker.verdict])
def test_a_scheduler_that_was_started_anew_is_asked_again(run: Run, step: Any) -> None:
    times: list[str] = []

    def once(client: FakeClient, address: str) -> FakeFuture | None:
        times.append(address)
        return FakeFuture(status="cancelled") if len(times) == 1 else None

    client = FakeClient(a=at(step, once))
    assert all(one.ok for one in run(client).values())
    assert "the scheduler has forgotten it" in run.words


def test_an_error_of_ours_stops_one_submission_and_no_other(run: Run) -> None:
    times: list[str] = []

    def first(client: FakeClient, address: str) -> FakeFuture | None:
        times.append(address)
        return FakeFuture(error=RuntimeError("ours")) if len(times) == 1 else None

    done = run(FakeClient(a=at(cluster_worker.grade, first)))
    troubled = [one for one in done.values() if not one.ok]
    assert [one.trouble for one in troubled] == [("RuntimeError: ours",)]
    assert len(done) == 3


def test_a_worker_with_many_threads_is_told_how_to_use_them(run: Run) -> None:
    client = FakeClient(a=None)
    client.threads = 8
    run(client)
    assert "worker a has 8 threads" in run.words
    assert "--nthreads 1" in run.words


def test_a_scheduler_that_goes_away_ends_the_run_in_words(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    client = FakeClient(a=at(cluster_worker.grade, lambda *_: FakeFuture(status="pending")))
    looks: list[int] = []

    def nthreads() -> dict[str, int]:
        looks.append(1)
        if len(looks) > 8:
            raise OSError("Timed out")
        return {"a": 1}

    monkeypatch.setattr(client, "nthreads", nthreads)
    with pytest.raises(ClusterError, match=r"no longer answers \(OSError: Timed out\)\. 3 submissions"):
        run(client)


# ---- the address ----


@pytest.mark.parametrize("scheduler", ["localhost", "tcp:/x:1", "http://x:8787", "tcp://host"])
def test_a_wrong_address_is_a_wrong_use(root: Path, scheduler: str) -> None:
    with pytest.raises(UsageError, match=r"no address of a Dask scheduler. Give it as tcp://host:port"):
        list(grade_on_cluster(Course(root), ASSIGNMENT, [Job("a", "/none")], Options(), scheduler))


def test_without_dask_the_extra_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def absent(name: str, *rest: Any, **named: Any) -> Any:
        if name == "distributed":
            raise ImportError("No module named 'distributed'")
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(UsageError, match=r"pip install 'deepdrills\[cluster\]'"):
        list(grade_on_cluster(Course(root), ASSIGNMENT, [Job("a", "/none")], Options(), ADDRESS))


def test_a_scheduler_that_is_not_there_and_an_open_network_are_said(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "_CONNECT_SECONDS", 0.2)
    said: list[str] = []
    with pytest.raises(ClusterError, match="no scheduler could be reached there"):
        list(
            grade_on_cluster(
                Course(root),
                ASSIGNMENT,
                [Job("a", "/none")],
                Options(),
                "tcp://127.0.0.2:1",
                say=said.append,
            )
        )
    assert "is not encrypted" in said[0]

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from autograder.batch import cluster_worker
from autograder.batch.cluster_content import Content
from autograder.batch.cluster_worker import Station
from autograder.batch.course import Course, Grader, Options
from autograder.errors import MissingLayerError, SandboxError
from autograder.sandbox.proof import LayerProof, Proof

from .small_course import ASSIGNMENT

HELD = LayerProof("seccomp", "opening a socket", True)
BROKEN = LayerProof("landlock", "writing outside", False, "it was not stopped")


class NoSandbox:
    """Starts nothing; remembers its folder and whether it was closed."""

    def __init__(self, grader: Grader) -> None:
        self.folder = grader.course.root
        self.closed = False

    def __enter__(self) -> NoSandbox:
        made.append(self)
        return self

    def __exit__(self, *_exc: object) -> None:
        self.closed = True


made: list[NoSandbox] = []


def _no_sandbox(grader: Grader) -> NoSandbox:
    return NoSandbox(grader)


def station(root: Path, monkeypatch: pytest.MonkeyPatch, proof: Any, **options: Any) -> Station:
    made.clear()
    monkeypatch.setattr(Grader, "new_sandbox", _no_sandbox)
    monkeypatch.setattr(cluster_worker, "prove_in", proof)
    content = Content.of(Course(root), ASSIGNMENT, Options(**options), "secret")
    return cluster_worker.prepare(cluster_worker.keep(content))


def _raise(error: Exception) -> Any:
    raise error


@pytest.mark.parametrize(
    ("proof", "words"),
    [
        (
            lambda *_: Proof((HELD, BROKEN), 1),
            "sandbox layer missing: landlock (writing outside: it was not stopped)",
        ),
        (lambda *_: Proof((HELD,), 2), "one thread (torch runs 2)"),
        (
            lambda *_: _raise(MissingLayerError(["pid namespace (not permitted)"], [])),
            "sandbox layer missing: pid namespace (not permitted)",
        ),
        (lambda *_: _raise(SandboxError("no interpreter")), "no interpreter"),
    ],
)
def test_a_station_without_every_layer_grades_nothing_and_leaves_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, proof: Any, words: str
) -> None:
    refused = station(root, monkeypatch, proof)
    assert words in cluster_worker.verdict(refused)
    answer = json.loads(cluster_worker.grade(refused, "ada", b"", {}, ()))
    assert answer == {"refused": refused.refusal}
    assert made[0].closed
    assert not made[0].folder.exists()


def test_a_proven_station_grades_and_an_error_of_ours_stops_one_submission(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = station(root, monkeypatch, lambda *_: Proof((HELD,), 1))
    assert cluster_worker.verdict(good) == ""
    monkeypatch.setattr(Grader, "grade", lambda *_, **__: _raise(RuntimeError("ours")))
    assert json.loads(cluster_worker.grade(good, "ada", b"", {}, ())) == {"trouble": ["RuntimeError: ours"]}
    monkeypatch.setattr(Grader, "grade", lambda *_, **__: _raise(SandboxError("it has ended")))
    assert json.loads(cluster_worker.grade(good, "ada", b"", {}, ())) == {"refused": "it has ended"}
    assert made[0].folder.exists()
    copy = pickle.loads(pickle.dumps(good))  # noqa: S301 (as Dask does it with what a worker holds)
    assert "its sandbox stayed" in cluster_worker.verdict(copy)
    assert "refused" in json.loads(cluster_worker.grade(copy, "ada", b"", {}, ()))
    cluster_worker.close(copy)
    cluster_worker.close(good)
    assert made[0].closed
    assert not made[0].folder.exists()


def test_degraded_grading_asks_for_no_proof(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    degraded = station(root, monkeypatch, lambda *_: _raise(AssertionError()), allow_degraded=True)
    assert degraded.refusal == ""
    degraded.close()

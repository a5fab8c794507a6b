"""A Dask client without processes: each worker does what its script says, at once."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from autograder.batch import cluster_worker
from autograder.batch.folder import Handed
from autograder.grading.graded import Graded
from autograder.results import GradeReport

KEYS = itertools.count()


class FakeFuture:
    """Ends when it is made, or never."""

    def __init__(self, result: Any = None, error: Exception | None = None, status: str = "") -> None:
        self.key = f"task-{next(KEYS)}"
        self.status = status or ("error" if error else "finished")
        self._result, self._error = result, error

    def result(self) -> Any:
        return self._result

    def exception(self) -> Exception | None:
        return self._error

    def cancel(self) -> None:
        self.status = "cancelled"

    def add_done_callback(self, call: Callable[[FakeFuture], None]) -> None:
        if self.status != "pending":
            call(self)


class FakeStation:
    """Grades everything alike, or keeps a reason not to."""

    def __init__(self, address: str, refusal: str = "") -> None:
        self.address = address
        self.refusal = refusal
        self.closed = False

    def grade(self, student: str, handed: Handed) -> dict[str, Any]:
        report = GradeReport(student, "ps1", self.address, 1, 1, 0, (), (), 0)
        return {"graded": Graded(report, {"cells": [], "metadata": {}}).to_json()}

    def close(self) -> None:
        self.closed = True


#: What a worker may do instead of the function: returns a future, or None to do the function.
Script = Callable[["FakeClient", Callable[..., Any], str], FakeFuture | None]


class FakeClient:
    """Workers by address, each with its script."""

    def __init__(self, **workers: Script | None) -> None:
        self.workers: dict[str, Script | None] = dict(workers)
        self.threads = 1
        self.stations: list[FakeStation] = []
        self.sent: list[tuple[str, str]] = []

    def nthreads(self) -> dict[str, int]:
        return dict.fromkeys(self.workers, self.threads)

    def submit(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        workers: list[str] | None = None,
        pure: bool = True,
    ) -> FakeFuture:
        assert not pure
        address = workers[0] if workers else ""
        self.sent.append((address, function.__name__))
        script = self.workers.get(address)
        instead = script(self, function, address) if script else None
        if instead is not None:
            return instead
        if function is cluster_worker.prepare:
            self.stations.append(FakeStation(address))
            return FakeFuture(self.stations[-1])
        values = [one.result() if isinstance(one, FakeFuture) else one for one in arguments]
        return FakeFuture(function(*values))

    def cancel(self, futures: list[FakeFuture]) -> None:
        for future in futures:
            future.cancel()


def at(function: Callable[..., Any], make: Callable[[FakeClient, str], FakeFuture | None]) -> Script:
    """A script that differs in one step only."""
    return lambda client, asked, address: make(client, address) if asked is function else None


def lost(client: FakeClient, address: str) -> FakeFuture:
    """The worker's process ends with what it was given."""
    del client.workers[address]
    return FakeFuture(status="pending")

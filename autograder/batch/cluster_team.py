"""The workers of a Dask scheduler: greeted, proved, given work, and missed when they are lost."""

from __future__ import annotations

import json
import queue
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from autograder.batch import cluster_worker
from autograder.batch.cluster_content import Build, Content
from autograder.batch.desk import Task

if TYPE_CHECKING:
    from distributed import Client, Future

#: How often the list of workers is asked for.
LOOK_SECONDS = 1.0
_FORGOTTEN = ("cancelled", "lost")
#: How often a worker may lose its sandbox before it is refused.
_SETBACKS = 3


@dataclass
class Member:
    """One worker process of the cluster, from the first question to its last submission."""

    address: str
    asked: Future[str] | None = None
    station: Future[Any] | None = None
    ready: bool = False
    refused: bool = False
    held: dict[str, tuple[Task, Future[bytes]]] = field(default_factory=dict)


class Team:
    """The workers of a scheduler, and what each of them has."""

    def __init__(self, client: Client, content: Content, say: Callable[[str], None]) -> None:
        self._client = client
        self._build = Build.here()
        self._say = say
        self._events: queue.SimpleQueue[tuple[Member, Future[Any]]] = queue.SimpleQueue()
        self._members: dict[str, Member] = {}
        self._setbacks: dict[str, int] = {}
        self._looked = 0.0
        #: Why workers were refused, by address.
        self.refusals: dict[str, str] = {}
        self._content = content
        self._sent = self._send()

    @property
    def busy(self) -> bool:
        return self.under_way > 0

    @property
    def under_way(self) -> int:
        return sum(len(member.held) for member in self._members.values())

    @property
    def ready(self) -> int:
        return sum(member.ready for member in self._members.values())

    @property
    def hopeful(self) -> bool:
        """Whether a worker takes work, or may yet."""
        return any(not member.refused for member in self._members.values())

    def look(self) -> list[Task]:
        """Greet new workers; returns the submissions of those that have gone."""
        if time.monotonic() - self._looked < LOOK_SECONDS:
            return []
        self._looked = time.monotonic()
        present = self._client.nthreads()
        lost = [task for address in self._members.keys() - present.keys() for task in self._lose(address)]
        for address in present.keys() - self._members.keys():
            member = self._members[address] = Member(address)
            if present[address] > 1:
                self._say(
                    f"worker {address} has {present[address]} threads, but a process grades one submission "
                    "at a time: start more workers with --nthreads 1 instead."
                )
            member.asked = self._ask(member, cluster_worker.describe)
        return lost

    def idle(self, plenty: bool) -> Iterator[Member]:
        """Workers with room: one submission each, and a second on the way while there are plenty."""
        for room in (1, 2) if plenty else (1,):
            for member in self._members.values():
                if member.ready and len(member.held) < room:
                    yield member

    def give(self, member: Member, task: Task) -> None:
        one = task.handed
        arguments = (member.station, task.student, one.notebook, one.files, one.notes)
        future: Future[bytes] = self._ask(member, cluster_worker.grade, *arguments)
        member.held[str(future.key)] = (task, future)

    def wait(self, seconds: float) -> tuple[Task, dict[str, Any]] | None:
        """The next submission that has ended, with the worker's answer; None for anything else.

        An answer holds one of `graded`, `trouble` and `lost`.
        """
        try:
            member, future = self._events.get(timeout=seconds)
        except queue.Empty:
            return None
        if self._members.get(member.address) is not member:
            return None  # of a worker that was lost
        if future.status in _FORGOTTEN:
            return self._forgotten(member, future)
        if future is member.asked:
            self._greeted(member, future)
            return None
        if str(future.key) not in member.held:
            return None  # an answer to a question that was asked again
        task, _ = member.held.pop(str(future.key))
        if future.status == "error":
            words = words_of(future.exception())
            return task, {"lost": words} if "KilledWorker" in words else {"trouble": [words]}
        answer: dict[str, Any] = json.loads(future.result())
        if "refused" in answer:
            self._give_up(member, answer["refused"])
            return task, {"lost": answer["refused"]}
        return task, answer

    def _greeted(self, member: Member, future: Future[str]) -> None:
        """The next step of a worker that has answered a question: build, then sandbox, then work."""
        member.asked = None
        if future.status == "error":
            self._refuse(member, f"deepdrills can not be run there ({words_of(future.exception())})")
        elif member.station is None:
            differences = self._build.differences(Build.from_json(json.loads(future.result())))
            if differences:
                self._refuse(member, f"{'; '.join(differences)}. Install the same there as here")
                return
            member.station = self._submit(member, cluster_worker.prepare, self._sent)
            member.asked = self._ask(member, cluster_worker.verdict, member.station)
        elif refusal := future.result():
            self._refuse(member, refusal)
        else:
            member.ready = True

    def _refuse(self, member: Member, why: str) -> None:
        member.refused, member.ready, member.station = True, False, None
        self.refusals[member.address] = why
        self._say(f"worker {member.address} is refused: {why}.")

    def _give_up(self, member: Member, why: str) -> None:
        """A station that has failed later on; its second submission says the same, and is not heard."""
        if member.ready:
            self._start_again(member, why)

    def _forgotten(self, member: Member, future: Future[Any]) -> tuple[Task, dict[str, Any]] | None:
        """A scheduler that was started anew knows nothing of what it was asked."""
        words = "the scheduler has forgotten it"
        if future is member.asked:
            self._start_again(member, words)
        elif str(future.key) in member.held:
            self._give_up(member, words)
            return member.held.pop(str(future.key))[0], {"lost": words}
        return None

    def _start_again(self, member: Member, why: str) -> None:
        """Ask a worker everything anew, a few times."""
        setbacks = self._setbacks[member.address] = self._setbacks.get(member.address, 0) + 1
        if setbacks >= _SETBACKS:
            self._refuse(member, why)
            return
        self._say(f"worker {member.address} has lost its sandbox ({why}); it is set up again.")
        member.ready, member.station = False, None
        if self._sent.status in _FORGOTTEN:
            self._sent = self._send()
        member.asked = self._ask(member, cluster_worker.describe)

    def _lose(self, address: str) -> list[Task]:
        member = self._members.pop(address)
        self.refusals.pop(address, None)
        if not member.refused:
            again = f"; its {len(member.held)} submissions are done again elsewhere" if member.held else ""
            self._say(f"worker {address} was lost{again}.")
        self._cancel(member)
        return [task for task, _ in member.held.values()]

    def _send(self) -> Future[Content]:
        # A task, not scattered data: the scheduler keeps it when the worker that holds it is lost.
        return self._client.submit(cluster_worker.keep, self._content, pure=False)

    def _ask(self, member: Member, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future = self._submit(member, function, *arguments)
        future.add_done_callback(lambda done: self._events.put((member, done)))
        return future

    def _submit(self, member: Member, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return self._client.submit(function, *arguments, workers=[member.address], pure=False)

    def _cancel(self, member: Member) -> None:
        futures = [future for _, future in member.held.values()]
        self._client.cancel([one for one in (*futures, member.asked, member.station) if one is not None])

    def dismiss(self) -> None:
        """End the sandboxes of all stations, and drop what is still under way."""
        with suppress(Exception):  # a cluster that has gone has nothing left to end
            for member in self._members.values():
                self._client.cancel([future for _, future in member.held.values()])
            ends = [
                self._submit(member, cluster_worker.close, member.station)
                for member in self._members.values()
                if member.ready and not member.held
            ]
            from distributed import wait

            if ends:
                wait(ends, timeout=10)
        self._members.clear()


def words_of(error: BaseException | None) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:500]

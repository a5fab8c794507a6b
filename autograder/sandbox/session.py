"""The trusted side of one submission's process: asks it, and judges what its replies are.

Everything that arrives is read with a deadline and a limit. Whatever is wrong with it is the submission's
failure; only what fails before its first byte is ours.
"""

from __future__ import annotations

import builtins
import secrets
import socket
import time
from typing import TYPE_CHECKING, Any

from autograder.exercises.compare import Opaque
from autograder.sandbox import protocol
from autograder.sandbox.student import (
    StudentCrashed,
    StudentFailure,
    StudentMissing,
    StudentOutOfMemory,
    StudentRaised,
    StudentTampered,
    StudentTimeout,
)

if TYPE_CHECKING:
    from autograder.sandbox.process import Zygote

#: How long after its deadline a submission may still say that it was interrupted, before it is killed.
GRACE_SECONDS = 3.0
#: How much later than its time an answer may arrive: what it takes to cross.
_TRANSPORT_SECONDS = 0.5
NOT_STOPPED = "Your code did not stop when its time was over."
TAMPERED = (
    "Your notebook's process sent what is not an answer: something in it wrote to the grader's connection. "
    "Nothing more of the notebook was graded; ask your teacher to look at it."
)
_EXCEPTIONS = frozenset(
    name
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, BaseException)
)
#: Parts times longest text of an answer: an array of texts gives each one the longest's room.
_TEXT_ROOM = 4_000_000


class Session:
    """One submission's process. Questions carry a nonce; a reply without it ends the process."""

    def __init__(self, zygote: Zygote, pid: int, channel: socket.socket, layers: tuple[str, ...]) -> None:
        self.layers = layers
        self.reasons: dict[str, str] = {}
        self._zygote = zygote
        self._pid = pid
        self._channel: socket.socket | None = channel

    @property
    def alive(self) -> bool:
        return self._channel is not None

    def write_files(self, files: dict[str, bytes]) -> list[tuple[str, str]]:
        """Put files in the working folder; returns those that could not be, with the reason."""
        answer = self._ask({"op": "files", "files": files}, 60.0)
        refused = answer.get("refused")
        return [(str(one[0]), str(one[1])) for one in refused] if isinstance(refused, list) else []

    def run_cell(
        self, source: str, seconds: float, snapshot: str | None = None, within: str | None = None
    ) -> dict[str, Any]:
        """Run one cell; returns `outputs`, `failure` (None or a dict) and `seconds`, all unchecked.

        `snapshot`: the name under which the names are kept as they stand afterwards; `within`: of an earlier
        one, whose names the cell runs among.
        """
        question = {"op": "cell", "source": source, "snapshot": snapshot, "within": within}
        return self._ask({**question, "seconds": seconds}, seconds)

    def call(
        self, exercise: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], seconds: float
    ) -> Any:
        """The plain answer of `name(*args, **kwargs)`. Raises a `StudentFailure`."""
        question = {"op": "call", "exercise": exercise, "name": name, "args": list(args), "kwargs": kwargs}
        return _judge(self._ask({**question, "seconds": seconds}, seconds), name)

    def value(self, exercise: str, name: str, seconds: float) -> Any:
        """The plain value of a variable. Raises a `StudentFailure`."""
        question = {"op": "value", "exercise": exercise, "name": name, "seconds": seconds}
        return _judge(self._ask(question, seconds), name)

    def drive(
        self, exercise: str, needs: tuple[str, ...], code: str, inputs: dict[str, Any], seconds: float
    ) -> Any:
        """What `code` leaves in `answer`, run among the student's names. Raises a `StudentFailure`."""
        question = {"op": "drive", "exercise": exercise, "needs": list(needs), "code": code, "inputs": inputs}
        return _judge(self._ask({**question, "seconds": seconds}, seconds), needs[0] if needs else "answer")

    def close(self) -> None:
        """End the process, whatever it is doing, and wait until it has gone."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None
            self._zygote.kill(self._pid)
            self._zygote.ended(self._pid)

    def _ask(self, question: dict[str, Any], seconds: float) -> dict[str, Any]:
        if self._channel is None:
            raise StudentCrashed("The notebook's process had already ended.")
        nonce = secrets.token_hex(8)
        began = time.monotonic()
        try:
            deadline = began + seconds + GRACE_SECONDS
            protocol.send(self._channel, {**question, "nonce": nonce}, deadline)
            received = protocol.receive(self._channel, deadline, self._zygote.limits.reply_size)
            answer: dict[str, Any] = received if isinstance(received, dict) else {}
            returned = answer.pop("nonce", None)
            if not isinstance(returned, str) or returned != nonce:  # an array's comparison is no verdict
                raise protocol.ProtocolError("a reply does not belong to its question")
        except protocol.Late:
            self.close()
            raise StudentTimeout(NOT_STOPPED) from None
        except protocol.ProtocolError as error:
            raise self._post_mortem(error) from None
        if time.monotonic() > began + seconds + _TRANSPORT_SECONDS and not _interrupted(answer):
            self.close()  # its timer is advice: this one is not
            raise StudentTimeout(NOT_STOPPED)
        return answer

    def _post_mortem(self, error: protocol.ProtocolError) -> StudentFailure:
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if not isinstance(error, protocol.Closed):
            self._zygote.kill(self._pid)
        end = self._zygote.ended(self._pid, 1.0)
        if end is None:
            self._zygote.kill(self._pid)
            end = self._zygote.ended(self._pid)
        if end is not None and end["oom"]:
            return StudentOutOfMemory("Your code used more memory than is allowed.")
        if isinstance(error, protocol.Closed):
            return StudentCrashed("Your code ended the notebook's process.")
        return StudentTampered(TAMPERED)


def _interrupted(answer: dict[str, Any]) -> bool:
    """Whether a late reply says that the code was stopped when its time was over."""
    said = answer.get("failure")
    return isinstance(said, dict) and said.get("over_time") is True


def _judge(answer: dict[str, Any], name: str) -> Any:
    if answer.get("missing") is True:
        raise StudentMissing(name)
    if "failure" in answer:
        raise failure(answer["failure"])
    if "opaque" in answer:
        return Opaque(str(answer["opaque"])[:80])
    if "value" not in answer:
        raise StudentTampered(TAMPERED)
    parts, longest = _texts(answer["value"])
    return answer["value"] if parts * longest <= _TEXT_ROOM else Opaque("long texts")


def _texts(value: Any) -> tuple[int, int]:
    """How many parts an answer has, and how long its longest text is."""
    if isinstance(value, str | bytes):
        return 1, len(value)
    parts, longest = 1, 0
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    for one in inner:
        more, length = _texts(one)
        parts, longest = parts + more, max(longest, length)
    return parts, longest


def failure(data: Any) -> StudentFailure:
    """The failure that a worker reports, read with suspicion."""
    if not isinstance(data, dict) or not isinstance(data.get("kinds"), list):
        return StudentTampered(TAMPERED)
    if data.get("over_time") is True:
        return StudentTimeout("Your code did not end within its time.")
    if data.get("memory") is True:
        return StudentOutOfMemory("Your code asked for more memory than is allowed.")
    # Only names that are known: any other text could carry a hidden input into a message.
    kinds = tuple(kind for kind in data["kinds"][:12] if isinstance(kind, str) and kind in _EXCEPTIONS)
    line = data.get("line")
    return StudentRaised(kinds, line if type(line) is int and 0 < line < 100_000 else None)

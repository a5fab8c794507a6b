"""What runs in a cluster's worker: it says what it has, proves its sandbox, and grades what it is sent.

Imports nothing of Dask: these are plain functions that an executor maps.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
import weakref
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from autograder.batch.cluster_content import Build, Content
from autograder.batch.course import Grader
from autograder.batch.folder import Handed
from autograder.errors import DeepdrillsError, MissingLayerError
from autograder.sandbox.proof import prove_in


class Station:
    """One assignment's content and a proven sandbox, in this process.

    A station that could not be set up, or whose sandbox does not hold, keeps the reason as `refusal`
    and grades nothing.
    """

    def __init__(self, content: Content) -> None:
        import torch

        torch.set_num_threads(1)
        self.refusal = ""
        self._lock = threading.Lock()  # pytest and the sandbox serve one submission at a time
        self._stack = ExitStack()
        self._close = weakref.finalize(self, self._stack.close)
        try:
            self._grader = self._set_up(content)
        except MissingLayerError as error:
            self.refusal = f"sandbox layer missing: {', '.join(error.missing)}"
        except DeepdrillsError as error:
            self.refusal = str(error)
        if self.refusal:
            self.close()

    def _set_up(self, content: Content) -> Grader:
        root = Path(tempfile.mkdtemp(prefix="deepdrills-station-"))
        self._stack.callback(shutil.rmtree, root, ignore_errors=True)
        course = content.unpack(root)
        grader = self._stack.enter_context(
            Grader(course, content.assignment, content.options, content.secret, sandbox=lambda: sandbox)
        )
        sandbox = self._stack.enter_context(grader.new_sandbox())
        broken = [] if content.allow_degraded else prove_in(sandbox, root).broken
        if broken:
            raise MissingLayerError(broken, [])
        return grader

    def grade(self, student: str, handed: Handed) -> dict[str, Any]:
        """The graded submission as JSON values, or the words of an error of ours."""
        with self._lock:
            if self.refusal:
                return {"refused": self.refusal}
            try:
                return {"graded": self._grader.grade(handed, student, keep=False).to_json()}
            except DeepdrillsError as error:
                return {"refused": str(error)}
            except Exception as error:  # an error of ours stops this submission and no other
                return {"trouble": [f"{type(error).__name__}: {error}"]}

    def close(self) -> None:
        self._close()

    def __reduce__(self) -> tuple[Any, ...]:
        """What arrives elsewhere grades nothing: Dask copies what a worker holds before it lets it go."""
        return Moved, ()


class Moved:
    """What is left of a station in another process than its own."""

    refusal = "its sandbox stayed in the process in which it was proved"

    def grade(self, student: str, handed: Handed) -> dict[str, Any]:
        return {"refused": self.refusal}

    def close(self) -> None:
        """There is nothing to end."""


def describe() -> str:
    """This process's build, as JSON."""
    return json.dumps(Build.here().to_json())


def keep(content: Content) -> Content:
    """The content as a task's result, so that the scheduler holds it once and workers hand it on."""
    return content


def prepare(content: Content) -> Station:
    """Set up a station; a refusal is in it, never raised."""
    return Station(content)


def verdict(station: Station | Moved) -> str:
    """Why a station takes no work; empty for one that has proved every layer of its sandbox."""
    return station.refusal


def grade(
    station: Station | Moved,
    student: str,
    notebook: bytes | None,
    files: dict[str, bytes],
    notes: tuple[str, ...],
) -> bytes:
    """Grade one submission; JSON, as the client is not to unpickle what a student may have shaped."""
    return json.dumps(station.grade(student, Handed(notebook, files, notes))).encode()


def close(station: Station | Moved) -> None:
    """End a station's sandbox before its worker would forget it."""
    station.close()

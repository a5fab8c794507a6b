"""The trusted side of a sandbox: starts zygotes and forks submissions from them."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from autograder.errors import MissingLayerError, SandboxError
from autograder.sandbox import protocol
from autograder.sandbox.confine import LAYERS
from autograder.sandbox.limits import Limits
from autograder.sandbox.prefix import Prefix, Shared
from autograder.sandbox.seed import Forked, Seed, site_folders
from autograder.sandbox.session import Session

_SPAWN_SECONDS = 30.0
_END_SECONDS = 5.0
_FIRST_UID = 640_000


class Sandbox:
    """Zygotes and the submissions forked from them, one at a time. Use as a context manager."""

    def __init__(
        self,
        limits: Limits,
        hidden: Iterable[Path] = (),
        allow_degraded: bool = False,
        slot: int | None = None,
        prefix: Prefix | None = None,
        seed: Seed | None = None,
    ) -> None:
        """`prefix`: course cells to run once for all submissions; `seed`: started by whom it belongs to."""
        self.limits = limits
        self._hidden = [str(Path(path).resolve()) for path in (*hidden, Path(__file__).parents[1])]
        self._allow_degraded = allow_degraded
        self._uid = _FIRST_UID + (os.getpid() if slot is None else slot) % 60_000
        self._prefix = prefix
        self._lent = seed
        self._seed: Seed | None = None
        self._plain: Zygote | None = None
        self._sharing: Zygote | None = None
        self._shared: Shared | None = None
        self._folder: str | None = None
        #: Why the prefix is run for each submission; empty where it is shared or there is none.
        self.note = ""

    def __enter__(self) -> Sandbox:
        self.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    @property
    def _process(self) -> subprocess.Popen[bytes] | Forked | None:
        return self._seed.process if self._seed is not None else None

    def start(self) -> None:
        """Start the zygotes and wait until one is warm. Raises `SandboxError` with its own words."""
        self._seed = self._lent or Seed()
        if self._lent is None:
            self._seed.start()
        self._folder = tempfile.mkdtemp(prefix="deepdrills-")
        try:
            self._plain = self._zygote("plain", None)
            self._plain.wait(_SPAWN_SECONDS)
            if self._prefix is not None:
                self._sharing = self._zygote("shared", self._prefix)
        except BaseException:
            self.close()
            raise

    def _zygote(self, name: str, prefix: Prefix | None) -> Zygote:
        assert self._seed is not None
        assert self._folder is not None
        root = os.path.join(self._folder, name)
        os.mkdir(root)
        settings = {
            "root": root,
            "readable": [*dict.fromkeys([sys.base_prefix, *site_folders()])],
            "hidden": self._hidden,
            "limits": self.limits.to_json(),
            "prefix": None if prefix is None else {"cells": list(prefix.cells), "files": prefix.files},
        }
        control, process = self._seed.zygote(settings)
        return Zygote(control, process, self.limits)

    def close(self) -> None:
        """End the zygotes; every submission dies with them."""
        for zygote in (self._plain, self._sharing):
            if zygote is not None:
                zygote.close()
        self._plain = self._sharing = self._shared = None
        if self._seed is not None and self._lent is None:
            self._seed.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def abandon(self) -> None:
        """For a process whose fork goes on with it: let go without ending anything."""
        for zygote in (self._plain, self._sharing):
            if zygote is not None:
                zygote.abandon()
        self._plain = self._sharing = self._folder = None

    def shared(self) -> Shared | None:
        """The prefix with its outputs, once it has run; None where each submission runs it for itself."""
        if self._shared is None and self._sharing is not None and self._prefix is not None:
            seconds = len(self._prefix.cells) * self.limits.cell_seconds + _SPAWN_SECONDS
            try:
                ready = self._sharing.wait(seconds)
                outputs, reason = ready["outputs"], ready["reason"]
            except SandboxError as error:
                outputs, reason = [], str(error)
            if reason:
                self._sharing.close()
                self._sharing = None
                self.note = f"The cells before the first answer are run for each submission: {reason}."
            else:
                self._shared = Shared(self._prefix, tuple(outputs))
        return self._shared

    def spawn(self, shared: bool = False) -> Session:
        """A fork for one submission, confined. Raises `MissingLayerError` or `SandboxError`.

        `shared`: of the interpreter in which the prefix has run.
        """
        zygote = self._sharing if shared else self._plain
        if zygote is None:
            raise SandboxError("the sandbox is not started")
        session = zygote.spawn(self._uid)
        missing = [name for name in LAYERS if name not in session.layers]
        if missing and not self._allow_degraded:
            session.close()
            raise MissingLayerError(
                [f"{name} ({session.reasons.get(name, 'not available')})" for name in missing],
                list(session.layers),
            )
        return session


class Zygote:
    """The trusted handle on one zygote: it forks on request, kills on request, and says how a fork ended."""

    def __init__(self, control: socket.socket, process: int, limits: Limits) -> None:
        """`process`: a pidfd of it, -1 where there is none."""
        self.limits = limits
        self._process = process
        self._control: socket.socket | None = control
        self._ended: dict[int, dict[str, Any]] = {}

    def wait(self, seconds: float) -> dict[str, Any]:
        """Its first words, once it is ready. Raises `SandboxError`."""
        assert self._control is not None
        try:
            ready: dict[str, Any] = protocol.receive(
                self._control, time.monotonic() + seconds, self.limits.reply_size
            )
        except protocol.Late as error:
            raise SandboxError("they did not end within their time") from error
        except protocol.ProtocolError as error:
            raise SandboxError(f"their process ended ({error})") from error
        return ready

    def spawn(self, uid: int) -> Session:
        if self._control is None:
            raise SandboxError("the sandbox is not started")
        ours, theirs = socket.socketpair()
        order = {"op": "spawn", "limits": self.limits.to_json(), "uid": uid}
        try:
            with theirs:
                socket.send_fds(self._control, [b"!"], [theirs.fileno()])
                protocol.send(self._control, order)
            reply = self._answer("pid")
            hello = protocol.receive(ours, time.monotonic() + _SPAWN_SECONDS, 1 << 20)
        except (protocol.ProtocolError, OSError) as error:
            ours.close()
            raise SandboxError(f"a submission's process could not be started ({error})") from error
        session = Session(self, reply["pid"], ours, tuple(hello["layers"]))
        session.reasons = dict(hello["reasons"])
        return session

    def close(self) -> None:
        """End it and wait until it has gone, with every fork of it."""
        if self._control is None:
            return
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
        self._control.close()
        self._control = None
        if self._process >= 0:
            if not select.select([self._process], [], [], _END_SECONDS)[0]:
                with contextlib.suppress(OSError):
                    signal.pidfd_send_signal(self._process, signal.SIGKILL)
                select.select([self._process], [], [], _END_SECONDS)
            os.close(self._process)
            self._process = -1

    def abandon(self) -> None:
        """Close the descriptors; the zygote goes on for whoever else has them."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process >= 0:
            os.close(self._process)
            self._process = -1

    def kill(self, pid: int) -> None:
        """End one submission and all its processes."""
        if self._control is not None:
            with contextlib.suppress(protocol.ProtocolError, OSError):
                self._control.sendall(b"!")
                protocol.send(self._control, {"op": "kill", "pid": pid})

    def ended(self, pid: int, seconds: float = 5.0) -> dict[str, Any] | None:
        """How a submission's process ended: `code` and `oom`; None if it has not within `seconds`."""
        deadline = time.monotonic() + seconds
        while pid not in self._ended:
            if self._control is None:
                return None
            try:
                self._note(protocol.receive(self._control, deadline, 1 << 20))
            except protocol.ProtocolError:
                return None
        return self._ended.pop(pid)

    def _answer(self, key: str) -> dict[str, Any]:
        assert self._control is not None
        deadline = time.monotonic() + _SPAWN_SECONDS
        while True:
            message: dict[str, Any] = protocol.receive(self._control, deadline, 1 << 20)
            if key in message:
                return message
            self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        if "ended" in message:
            self._ended[message["ended"]] = message

"""Prove each layer of the sandbox by trying what it should stop."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from autograder.sandbox.confine import LAYERS
from autograder.sandbox.limits import Limits
from autograder.sandbox.process import Sandbox
from autograder.sandbox.student import StudentFailure

#: layer: (what was tried, code that leaves the answer in `stopped`).
_ATTEMPTS: dict[str, tuple[str, str]] = {
    "session": ("belonging to the grader's session", "stopped = os.getsid(0) == os.getpid()"),
    "pid namespace": (
        "seeing a process of the machine",
        "stopped = os.getpid() == 1 and all(int(p) < 50 for p in os.listdir('/proc') if p.isdigit())",
    ),
    "mount namespace": (
        "opening the course's files and the grader's own",
        "stopped = all(fails(lambda path=path: open(path)) for path in FILES)",
    ),
    "network namespace": (
        "having a network device",
        "names = open('/proc/self/net/dev').read().split(':')[:-1]\nstopped = len(names) <= 1",
    ),
    "ipc namespace": (
        "seeing the machine's shared memory",
        "stopped = os.readlink('/proc/self/ns/ipc') != OUTSIDE",
    ),
    "privileges": (
        "holding a capability",
        "status = dict(line.split(':', 1) for line in open('/proc/self/status') if ':' in line)\n"
        "stopped = int(status['CapEff'], 16) == 0 and os.getuid() != 0\n"
        "stopped = stopped and status['NoNewPrivs'].strip() == '1'",
    ),
    "limits": (
        "taking twice the memory that is allowed",
        "stopped = fails(lambda: bytearray(2 * MEMORY))",
    ),
    "landlock": (
        "writing outside the working folder",
        "stopped = fails(lambda: os.listdir('/')) and fails(lambda: open('/etc/proof', 'w'))",
    ),
    "seccomp": (
        "opening a socket and tracing a process",
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "stopped = fails(lambda: socket.socket(socket.AF_UNIX)) and fails(lambda: socket.socket())\n"
        "stopped = stopped and libc.ptrace(0, 0, 0, 0) == -1",
    ),
}
_PREAMBLE = """
import ctypes, os, socket
def fails(action):
    try:
        action()
    except (OSError, MemoryError):
        return True
    return False
stopped = False
"""


@dataclass(frozen=True)
class LayerProof:
    """One layer: what was tried against it, and whether it held (None where it was not reached)."""

    layer: str
    tried: str
    held: bool | None
    reason: str = ""


@dataclass(frozen=True)
class Proof:
    """What a fresh sandbox showed: its layers, and how many threads torch runs in it."""

    layers: tuple[LayerProof, ...]
    torch_threads: int | None

    @property
    def holds(self) -> bool:
        return not self.broken

    @property
    def broken(self) -> list[str]:
        """What does not hold, with its reason, in words."""
        found = [f"{one.layer} ({one.tried}: {one.reason})" for one in self.layers if not one.held]
        if self.torch_threads != 1:
            found.append(f"one thread (torch runs {self.torch_threads or 'an unknown number'})")
        return found


def prove(course: Path, limits: Limits | None = None) -> Proof:
    """Try every layer once in a fresh sandbox. Raises `SandboxError` when none can be started.

    `course`: a folder whose files a submission must not open.
    """
    with Sandbox(limits or Limits(), hidden=[course], allow_degraded=True) as sandbox:
        return prove_in(sandbox, course)


def prove_in(sandbox: Sandbox, course: Path) -> Proof:
    """Try every layer in forks of a started sandbox. Raises `SandboxError` as `Sandbox.spawn` does."""
    layers = tuple(_prove(layer, sandbox, course) for layer in LAYERS)
    session = sandbox.spawn()
    try:
        session.run_cell("import torch\nthreads = torch.get_num_threads()", 20.0, "threads")
        threads = session.value("threads", "threads", 5.0)
    except StudentFailure:
        threads = None
    finally:
        session.close()
    return Proof(layers, threads if type(threads) is int else None)


def _ipc_namespace() -> str:
    """The machine's own, as far as this process is in it."""
    try:
        return os.readlink("/proc/self/ns/ipc")
    except OSError:
        return ""


def _prove(layer: str, sandbox: Sandbox, course: Path) -> LayerProof:
    tried, code = _ATTEMPTS[layer]
    session = sandbox.spawn()
    try:
        if layer not in session.layers:
            return LayerProof(layer, tried, None, session.reasons.get(layer, "not available here"))
        files = [str(path) for path in (*sorted(course.glob("*"))[:20], Path(__file__)) if path.is_file()]
        names = f"FILES = {files!r}\nMEMORY = {sandbox.limits.memory}\nOUTSIDE = {_ipc_namespace()!r}\n"
        session.run_cell(_PREAMBLE + names + code, 20.0, layer)
        held = session.value(layer, "stopped", 5.0) is True
        return LayerProof(layer, tried, held, "" if held else "it was not stopped")
    except StudentFailure as failed:
        return LayerProof(layer, tried, False, str(failed))
    finally:
        session.close()

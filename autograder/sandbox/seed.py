"""The trusted side of the seed: one warm process, from which the zygotes of several workers are forked.

Importing torch and drawing a first figure takes seconds; a fork takes milliseconds and shares the memory.
"""

from __future__ import annotations

import math
import os
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from autograder.errors import SandboxError
from autograder.sandbox import protocol

_START_SECONDS = 180.0
#: Large pages, and memory kept from one tensor to the next: with the defaults a good part of a convolution's
#: time is page faults (`benchmarks/allocator.py`; glibc manual, "Memory Allocation Tunables"; other C
#: libraries ignore them).
_MALLOC = ":".join(
    (
        "glibc.malloc.hugetlb=1",
        f"glibc.malloc.mmap_threshold={32 << 20}",
        f"glibc.malloc.trim_threshold={128 << 20}",
    )
)
_FORK_SECONDS = 30.0
#: What some notebooks use, and takes so long to import that it is used once before all forks.
PACKAGES = ("matplotlib", "optim", "sklearn")

#: Only `sandbox/` is in the package of this interpreter: nothing else of ours can be imported in it.
_BOOT = """
import gc, sys, types
gc.disable()
folder, paths = sys.argv[3], sys.argv[4:]
sys.path[:] = [p for p in sys.path if p] + paths
for name, path in (("autograder", []), ("autograder.sandbox", [folder])):
    module = types.ModuleType(name); module.__path__ = path; sys.modules[name] = module
from autograder.sandbox import warm
"""


class Forked:
    """A process that this one has forked, with the part of `subprocess.Popen` that a seed needs."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit code once it has ended."""
        if self.returncode is None:
            try:
                ended, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # somebody else has waited for it
                self.returncode = 0
            else:
                self.returncode = os.waitstatus_to_exitcode(status) if ended else None
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code. Raises `subprocess.TimeoutExpired`."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            time.sleep(0.005)
        return code

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


class Seed:
    """A process with everything heavy imported. Use as a context manager."""

    def __init__(self, packages: Sequence[str] = PACKAGES) -> None:
        """`packages`: of `PACKAGES`, those to use once besides torch, where they are installed."""
        self._packages = packages
        self.process: subprocess.Popen[bytes] | Forked | None = None
        self._control: socket.socket | None = None
        self._log: Any = None
        self._ready = False

    @classmethod
    def planted(cls, control: int, pid: int, said: int) -> Seed:
        """The handle on a seed that this process has forked; what `warm.plant` returned."""
        seed = cls()
        seed.process = Forked(pid)
        seed._control = socket.socket(fileno=control)
        seed._log = os.fdopen(said, "rb")
        return seed

    def __enter__(self) -> Seed:
        self.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def start(self) -> None:
        """Start the interpreter; what needs it waits until it is warm."""
        ours, theirs = socket.socketpair()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (read when it does not start, closed below)
        try:
            self.process = subprocess.Popen(
                clean_interpreter("warm.main()", theirs.fileno(), self._packages),
                pass_fds=[theirs.fileno()],
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._log,
                cwd="/",
            )
        finally:
            theirs.close()
        self._control = ours

    def zygote(self, settings: dict[str, Any]) -> tuple[socket.socket, int]:
        """The control socket of a new zygote, and a pidfd of it (-1 where there is none).

        Raises `SandboxError`.
        """
        self._wait()
        assert self._control is not None
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                socket.send_fds(self._control, [b"!"], [theirs.fileno()])
                protocol.send(self._control, settings)
            self._control.settimeout(_FORK_SECONDS)
            marker, fds, _, _ = socket.recv_fds(self._control, 1, 1)
            if not marker:
                raise protocol.Closed("it has ended")
        except (protocol.ProtocolError, OSError) as error:
            ours.close()
            raise SandboxError(f"the sandbox's interpreter can not be forked ({error})") from error
        return ours, fds[0] if fds else -1

    def close(self) -> None:
        """End it; every zygote and every submission dies with it."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self.process is not None:
            try:
                self.process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self._log is not None:
            self._log.close()
            self._log = None

    def abandon(self) -> None:
        """For a fork of the process that started it: leave it to that one."""
        if self._control is not None:
            self._control.close()
            self._control = None
        self.process = None

    def _wait(self) -> None:
        if self._control is None:
            raise SandboxError("the sandbox is not started")
        if self._ready:
            return
        try:
            ready = protocol.receive(self._control, time.monotonic() + _START_SECONDS, 1 << 20)
        except protocol.ProtocolError as error:
            self._log.seek(0)
            words = self._log.read().decode("utf-8", "replace").strip().splitlines()
            self.close()
            raise SandboxError(
                f"the sandbox's interpreter did not start: {words[-1] if words else error}. "
                "Run 'deepdrills doctor' to see which part fails."
            ) from error
        if ready["threads"] != 1:
            self.close()
            raise SandboxError(f"the zygote runs {ready['threads']} threads; a fork of it would hang")
        self._ready = True


def clean_interpreter(then: str, control: int, packages: Sequence[str]) -> list[str]:
    """The command of an interpreter that has imported torch and `sandbox/` only; `then`: its last line."""
    command = [sys.executable, "-I", "-S", "-c", _BOOT + then, str(control), ",".join(packages)]
    return [*command, os.path.dirname(os.path.realpath(__file__)), *site_folders()]


def packages_of(folder: Path) -> list[str]:
    """Those of `PACKAGES` that a notebook in the folder names, in whatever way it imports them."""
    with suppress(OSError):
        sources = [path.read_bytes() for path in folder.glob("*.ipynb")]
        return [name for name in PACKAGES if any(name.encode() in source for source in sources)]
    return list(PACKAGES)


def site_folders() -> list[str]:
    """Where torch and the like are imported from, whole and without `.pth` hooks."""
    paths = sysconfig.get_paths()
    found = [os.path.realpath(paths[key]) for key in ("purelib", "platlib")]
    return [path for path in dict.fromkeys(found) if os.path.isdir(path)]


def environment() -> dict[str, str]:
    """A small environment, with one thread everywhere; a processor's own settings are kept."""
    import platformdirs

    kept = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("OPENBLAS_", "NVPL_")) or name in ("TZ", "MKL_DEBUG_CPU_TYPE")
    }
    cache = Path(platformdirs.user_cache_dir("deepdrills")) / "matplotlib"
    return {
        **kept,
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "GLIBC_TUNABLES": _MALLOC,
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MPLCONFIGDIR": str(cache),
        "IPYTHONDIR": "/tmp/ipython",
        "HOME": "/notebook",
    }

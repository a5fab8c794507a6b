"""The trusted side of the seed: one warm interpreter, from which the zygotes of several workers are forked.

Importing torch and drawing a first figure takes seconds; a fork takes milliseconds and shares the memory.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.errors import SandboxError
from autograder.sandbox import protocol

_START_SECONDS = 180.0
_FORK_SECONDS = 30.0
#: What some assignment imports, and takes long enough to be worth importing once.
MODULES = ("sklearn.datasets",)

#: The zygote's package holds only `sandbox/`: nothing else of ours can be imported in it.
_BOOT = """
import sys, types
folder, paths = sys.argv[3], sys.argv[4:]
sys.path[:] = [p for p in sys.path if p] + paths
for name, path in (("autograder", []), ("autograder.sandbox", [folder])):
    module = types.ModuleType(name); module.__path__ = path; sys.modules[name] = module
from autograder.sandbox.zygote import main
main()
"""


class Seed:
    """A clean interpreter with everything heavy imported. Use as a context manager."""

    def __init__(self, modules: Sequence[str] = MODULES) -> None:
        """`modules`: imported besides torch and matplotlib, where they are installed."""
        self._modules = modules
        self.process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._log: Any = None
        self._ready = False

    def __enter__(self) -> Seed:
        self.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def start(self) -> None:
        """Start the interpreter; what needs it waits until it is warm."""
        ours, theirs = socket.socketpair()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (read when it does not start, closed below)
        command = [sys.executable, "-I", "-S", "-c", _BOOT, str(theirs.fileno())]
        command += [",".join(self._modules), os.path.dirname(os.path.realpath(__file__)), *site_folders()]
        try:
            self.process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                env=_environment(),
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


def site_folders() -> list[str]:
    """Where torch and the like are imported from, whole and without `.pth` hooks."""
    paths = sysconfig.get_paths()
    found = [os.path.realpath(paths[key]) for key in ("purelib", "platlib")]
    return [path for path in dict.fromkeys(found) if os.path.isdir(path)]


def _environment() -> dict[str, str]:
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
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MPLCONFIGDIR": str(cache),
        "IPYTHONDIR": "/tmp/ipython",
        "HOME": "/notebook",
    }

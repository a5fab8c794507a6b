"""One process that has imported everything and collected the suites, and workers forked from it.

Imports and collection take seconds, a fork takes milliseconds and shares the memory. The nursery grades
nothing, so what happens to one worker is nobody else's.
"""

from __future__ import annotations

import gc
import importlib
import json
import multiprocessing
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from autograder.batch.course import Course, Grader, Options
from autograder.errors import DeepdrillsError, DiskFullError, UsageError, no_room
from autograder.imports import skip_slow_grammar
from autograder.sandbox import kernel
from autograder.sandbox.limits import Limits
from autograder.sandbox.seed import Seed, clean_interpreter, environment, packages_of

#: What a worker does: grade what comes over the connection until it is closed.
Work = Callable[[Connection, Grader, dict[str, Any]], None]
_NUMBER = struct.Struct("<i")
_END_SECONDS = 15.0
#: For libraries that read it when they are loaded: a process with threads is not forked.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

#: The nursery's interpreter is as clean as the seed's until that is forked off. Then it becomes one of ours:
#: with the parent's environment and paths, and the whole package instead of the part that the seed has.
_GROW = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)  # who pressed it ends us
planted = warm.plant([name for name in sys.argv[2].split(",") if name])
for name in [name for name in sys.modules if name.partition(".")[0] == "autograder"]:
    del sys.modules[name]
import importlib, json, os, site, sysconfig
start = json.load(sys.stdin)
os.environ.clear()
os.environ.update(start["environment"])
site.main()
if site.getusersitepackages() in start["path"]:
    site.addsitedir(site.getusersitepackages())
importlib.reload(sysconfig)  # it has taken the folders of an interpreter without a virtual environment
sys.path[:] = start["path"]
sys.dont_write_bytecode = start["dont_write_bytecode"]
os.chdir(start["folder"])
gc.enable()
from autograder.batch.nursery import nurse
nurse(int(sys.argv[1]), planted, start["work"], start["settings"])
"""


class Nursery:
    """The parent's handle."""

    def __init__(self, work: Work, settings: dict[str, Any]) -> None:
        """`work`: a function of a module, for it is imported in another interpreter."""
        self._control, theirs = socket.socketpair()
        packages = packages_of(Path(settings["root"]) / "source" / settings["assignment"])
        with theirs:
            self.process = subprocess.Popen(
                clean_interpreter(_GROW, theirs.fileno(), packages),
                pass_fds=[theirs.fileno()],
                env=environment(),
                stdin=subprocess.PIPE,
                cwd="/",
            )
        start = {
            "environment": {**_ONE_THREAD, **os.environ},
            "path": sys.path,
            "dont_write_bytecode": sys.dont_write_bytecode,
            "folder": os.getcwd(),
            "work": [work.__module__, work.__qualname__],
            "settings": settings,
        }
        assert self.process.stdin is not None
        # One that has died is met at the first worker.
        with suppress(BrokenPipeError), self.process.stdin as pipe:
            pipe.write(json.dumps(start).encode())

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def worker(self) -> Connection:
        """The connection to a new worker; its first message says its process id, or why there is none."""
        ours, theirs = multiprocessing.Pipe()
        with theirs, suppress(OSError):  # a nursery that has died closes the connection
            socket.send_fds(self._control, [b"w"], [theirs.fileno()])
        return ours

    def exit_code(self, pid: int | None) -> int | None:
        """How a worker ended; the nursery's own code when it has gone too."""
        with suppress(OSError):
            if pid is not None and self.alive:
                self._control.settimeout(_END_SECONDS)
                self._control.sendall(b"c" + _NUMBER.pack(pid))
                answer = self._control.recv(_NUMBER.size)
                if len(answer) == _NUMBER.size:
                    return int(_NUMBER.unpack(answer)[0])
        with suppress(subprocess.TimeoutExpired):
            return self.process.wait(_END_SECONDS)
        return None

    def dismiss(self) -> None:
        """Let it end once its workers have ended, without waiting for that."""
        self._control.close()

    def close(self, now: bool = False) -> None:
        """End it, once its workers have ended; `now` ends them too."""
        self.dismiss()
        if now:
            self.process.terminate()
        try:
            self.process.wait(2 * _END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def refusal(error: Exception, place: Path, started: bool) -> dict[str, Any]:
    """An error that ends a worker, for its parent. Raises what is no error of a known kind."""
    if isinstance(error, OSError):
        if not no_room(error):
            raise error
        error = DiskFullError(error.filename or place)
    kind = next(one for one in (DiskFullError, UsageError, DeepdrillsError) if isinstance(error, one))
    return {
        "refused": str(error),
        "kind": kind.__name__,
        "place": str(getattr(error, "folder", "")),
        "started": started,
    }


def nurse(control_fd: int, planted: tuple[int, int, int], named: list[str], settings: dict[str, Any]) -> None:
    """In the nursery: import, collect, and fork a worker for each request. Ends the process.

    `planted`: the seed, as `warm.plant` returned it; `named`: module and name of what a worker does.
    """
    skip_slow_grammar()
    work: Work = getattr(importlib.import_module(named[0]), named[1])
    root = Path(settings["root"])
    control = socket.socket(fileno=control_fd)
    seed = Seed.planted(*planted)
    kept: list[Any] = []
    grader: Grader | None = None
    refused: dict[str, Any] | None = None
    try:
        options = Options(
            Limits(**settings["limits"]), settings["allow_degraded"], settings["rerun_experiments"]
        )
        grader = Grader(Course(root), settings["assignment"], options, sandbox=lambda: kept[-1])
        grader.collect()
    except (DeepdrillsError, OSError) as error:
        refused = refusal(error, root, False)
    gc.freeze()  # a worker's collector does not write to what it shares with this process
    number = 0
    children: set[int] = set()
    try:
        while True:
            marker, fds, _, _ = socket.recv_fds(control, 1, 1)
            if not marker:
                break
            if marker == b"c":
                control.sendall(_NUMBER.pack(_code(_NUMBER.unpack(control.recv(_NUMBER.size))[0], children)))
                continue
            connection = Connection(fds[0])
            try:
                if refused is None and grader is not None:
                    kept.append(grader.new_sandbox(os.getpid() + number, seed))
                    kept[-1].start()
            except (DeepdrillsError, OSError) as error:
                connection.send_bytes(json.dumps(refusal(error, root, False)).encode())
                connection.close()
                continue
            if refused is not None or grader is None:
                connection.send_bytes(json.dumps(refused).encode())
                connection.close()
                continue
            number += 1
            pid = os.fork()
            if pid == 0:
                control.close()
                seed.abandon()
                _work(connection, work, grader, kept[-1], settings)
            children.add(pid)
            kept.pop().abandon()
            connection.close()
    except (KeyboardInterrupt, OSError):
        pass
    deadline = time.monotonic() + _END_SECONDS
    while children and time.monotonic() < deadline:
        pid, _ = os.waitpid(-1, os.WNOHANG)
        children.discard(pid)
        time.sleep(0.01 if not pid else 0)
    seed.close()
    os._exit(0)  # to take an interpreter with torch in it apart takes half a second


def _work(connection: Connection, work: Work, grader: Grader, sandbox: Any, settings: dict[str, Any]) -> None:
    """In the worker: do the work, and leave without what the nursery would do at its end."""
    try:
        with suppress(OSError, AttributeError):
            kernel.prctl(kernel.PR_SET_PDEATHSIG, kernel.SIGKILL)
        connection.send_bytes(json.dumps({"pid": os.getpid()}).encode())
        work(connection, grader, settings)
        sandbox.close()
    except KeyboardInterrupt:
        pass
    except BaseException:
        import traceback

        traceback.print_exc()
        os._exit(1)
    finally:
        os._exit(0)


def _code(pid: int, children: set[int]) -> int:
    """The exit code of a worker whose connection has ended."""
    deadline = time.monotonic() + _END_SECONDS / 3
    while pid in children and time.monotonic() < deadline:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            children.discard(pid)
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    return 0

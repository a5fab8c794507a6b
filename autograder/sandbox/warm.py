"""The seed: everything heavy imported, one thread and no secrets; zygotes are forked from it.

It is started as a clean interpreter by `sandbox/seed.py`, or forked from the one that becomes the nursery
(`batch/nursery.py`) before that has read anything of a course: torch is imported once for both. Imports
nothing of the package but its siblings.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from autograder.sandbox import kernel, protocol
from autograder.sandbox.confine import Layers, leave_namespaces, own_user_namespace
from autograder.sandbox.zygote import Zygote, exit_descriptor, pid_namespace

#: A first use of what takes long to import, by the package's name. `torch.optim` imports a compiler.
_FIRST_USE = {
    "matplotlib": "import matplotlib.pyplot as p; p.figure(); p.plot([0, 1]); p.show(); p.close('all')",
    "optim": "import torch; torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)",
    "sklearn": "import sklearn.datasets",
}


class Seed:
    """Uses each of `packages` once, then forks a zygote for each order."""

    def __init__(self, control: socket.socket, layers: Layers, packages: Iterable[str] = ()) -> None:
        self._control = control
        self._layers = layers
        self._packages = packages
        self._own_pid_namespace = pid_namespace()

    def run(self) -> None:
        from autograder.sandbox.shell import new_shell

        shell = new_shell(1 << 20)
        _warm(shell, self._packages)
        for name in [name for name in sys.modules if name.split(".")[0] == "autograder"]:
            del sys.modules[name]
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a zygote ended
        gc.freeze()  # what is here now stays shared: no fork's collector writes to it
        gc.enable()  # off since the interpreter's start, for imports make no garbage
        threads = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1
        protocol.send(self._control, {"ready": True, "threads": threads})
        while True:
            try:
                self._control.settimeout(None)  # the last order's reading has left one
                marker, fds, _, _ = socket.recv_fds(self._control, 1, 1)
                if not marker:
                    return
                settings = protocol.receive(self._control, time.monotonic() + 10, 1 << 30)
            except (OSError, protocol.ProtocolError):
                return
            layers = Layers(self._layers.reached, self._layers.reasons)
            nested = layers.lay("pid namespace", kernel.unshare, kernel.CLONE_NEWPID)
            pid = os.fork()
            if pid == 0:
                try:
                    self._become(fds[0], settings, shell, layers)
                finally:
                    os._exit(0)
            if nested:
                kernel.setns(self._own_pid_namespace, kernel.CLONE_NEWPID)
            os.close(fds[0])
            end = exit_descriptor(pid)
            socket.send_fds(self._control, [b"!"], [end] if end else [])
            if end:
                os.close(end)

    def _become(self, fd: int, settings: dict[str, Any], shell: Any, seed: Layers) -> None:
        kernel.close_all_but(fd)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        kernel.prctl(kernel.PR_SET_PDEATHSIG, kernel.SIGKILL)
        Zygote(socket.socket(fileno=fd), settings, shell, leave_namespaces(seed)).run()


def _warm(shell: Any, packages: Iterable[str]) -> None:
    """Pay here, once, for what a first traceback imports, and a first use of each of `packages`."""
    shell.outputs.start()
    shell.run_cell("def warm():\n    raise ValueError('warm')\nwarm()")
    for name in packages:
        error = shell.run_cell(_FIRST_USE[name]).error_in_exec
        if error is not None and not isinstance(error, ImportError):
            raise error
    shell.reset(new_session=True)
    shell.outputs.start()


def plant(packages: Sequence[str]) -> tuple[int, int, int]:
    """Fork the seed off this process, which must have one thread.

    Returns the descriptor of its control socket, its process id, and a descriptor of what it says on stderr.
    """
    ours, theirs = socket.socketpair()
    with tempfile.TemporaryFile() as file:
        said = os.dup(file.fileno())
    pid = os.fork()
    if pid:
        theirs.close()
        return ours.detach(), pid, said
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for standard, instead in ((0, null), (1, null), (2, said)):
            os.dup2(instead, standard)
        kernel.close_all_but(theirs.fileno())
        _run(theirs, packages)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def main() -> None:
    """Entry point: `argv` holds the control descriptor, and the packages to use once, with commas."""
    _run(socket.socket(fileno=int(sys.argv[1])), [name for name in sys.argv[2].split(",") if name])


def _run(control: socket.socket, packages: Iterable[str]) -> NoReturn:
    """The seed is a fork in a PID namespace of its own: only to one that our user namespace owns can it
    come back after each fork of a zygote.
    """
    layers = own_user_namespace()
    if Layers().lay("pid namespace", kernel.unshare, kernel.CLONE_NEWPID):
        pid = os.fork()
        if pid:
            control.close()
            _, status = os.waitpid(pid, 0)
            os._exit(0 if status == 0 else 1)
        kernel.prctl(kernel.PR_SET_PDEATHSIG, kernel.SIGKILL)
    Seed(control, layers, packages).run()
    os._exit(0)

"""The process that submissions are forked from: everything heavy imported, one thread, no secrets.

Started as a clean interpreter by `sandbox/process.py`; imports nothing of the package but its
siblings, and these are taken out of `sys.modules` before any student code runs.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
import time
from typing import Any

from autograder.sandbox import kernel, protocol, view
from autograder.sandbox.confine import Layers, confine, leave_namespaces

_WATCH_SECONDS = 0.05


def launch(control_fd: int, settings: dict[str, Any]) -> None:
    """Leave the namespaces, fork the zygote into them, and wait for its end."""
    layers = leave_namespaces()
    pid = os.fork()
    if pid:
        os.close(control_fd)
        _, status = os.waitpid(pid, 0)
        os._exit(0 if status == 0 else 1)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, kernel.SIGKILL)
    Zygote(socket.socket(fileno=control_fd), settings, layers).run()
    os._exit(0)


class Zygote:
    """Forks on request, kills on request, and says how each child ended."""

    def __init__(self, control: socket.socket, settings: dict[str, Any], layers: Layers) -> None:
        self._control = control
        self._settings = settings
        self._layers = layers
        self._children: dict[int, dict[str, Any]] = {}
        self._own_pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    def run(self) -> None:
        from autograder.sandbox.shell import new_shell

        self._shell = new_shell(1 << 20)
        _warm(self._shell)
        if "mount namespace" in self._layers.reached:
            settings = self._settings
            self._layers.lay("view", view.enter, settings["root"], settings["readable"], settings["hidden"])
            if "view" not in self._layers.reached:
                self._layers.reasons["mount namespace"] = self._layers.reasons["view"]
        for name in [name for name in sys.modules if name.split(".")[0] == "autograder"]:
            if name != "autograder.sandbox.worker":
                del sys.modules[name]
        del sys.modules["autograder.sandbox.worker"]
        threads = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1
        protocol.send(self._control, {"ready": True, "threads": threads})
        while True:
            readable = select.select([self._control], [], [], _WATCH_SECONDS if self._children else None)[0]
            if readable and not self._obey():
                return
            self._watch()

    def _obey(self) -> bool:
        try:
            marker, fds, _, _ = socket.recv_fds(self._control, 1, 1)
        except OSError:
            return False
        if not marker:
            return False
        try:
            order = protocol.receive(self._control, time.monotonic() + 10, 1 << 20)
        except protocol.ProtocolError:
            return False
        if order["op"] == "spawn":
            self._spawn(fds[0], order)
        elif order["op"] == "kill" and order["pid"] in self._children:
            os.kill(order["pid"], signal.SIGKILL)
        return True

    def _spawn(self, fd: int, order: dict[str, Any]) -> None:
        folder = None
        if "view" not in self._layers.reached:
            folder = tempfile.mkdtemp(prefix="deepdrills-work-")
            if os.geteuid() == 0:
                os.chown(folder, order["uid"], order["uid"])
        nested = "pid namespace" in self._layers.reached
        if nested:
            kernel.unshare(kernel.CLONE_NEWPID)
        pid = os.fork()
        if pid == 0:
            try:
                self._become(fd, order, folder)
            finally:
                os._exit(0)
        os.close(fd)
        if nested:
            kernel.setns(self._own_pid_namespace, kernel.CLONE_NEWPID)
        self._children[pid] = {"memory": order["limits"]["memory"], "folder": folder, "oom": False}
        protocol.send(self._control, {"pid": pid})

    def _become(self, fd: int, order: dict[str, Any], folder: str | None) -> None:
        """In the child: confine, say what was reached, and serve once the other side agrees."""
        from_worker = _Worker  # bound before the package left sys.modules
        kernel.close_all_but(fd)
        null = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(null, standard)
        if null > 2:
            os.close(null)
        channel = socket.socket(fileno=fd)
        if folder is not None:
            os.chdir(folder)
        layers = confine(
            self._layers, order["limits"], self._settings["readable"], self._settings["hidden"], order["uid"]
        )
        if folder is None:
            os.chdir(view.WORK)
        os.environ["HOME"] = os.environ["TMPDIR"] = os.getcwd()
        sys.path.insert(0, "")
        signal.signal(signal.SIGINT, signal.default_int_handler)
        protocol.send(channel, {"layers": layers.reached, "reasons": layers.reasons})
        from_worker(channel, self._shell, order["limits"]).serve()

    def _watch(self) -> None:
        """Reap what has ended, and end what holds more memory than is allowed."""
        while self._children:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            child = self._children.pop(pid, None)
            if child is None:
                continue
            if child["folder"]:
                shutil.rmtree(child["folder"], ignore_errors=True)
            protocol.send(
                self._control,
                {"ended": pid, "code": os.waitstatus_to_exitcode(status), "oom": child["oom"]},
            )
        isolated = "pid namespace" in self._layers.reached
        for pid, child in self._children.items():
            only = None if isolated else pid
            # The exact measure is dear: it is taken only where the cheap one exceeds the limit.
            if resident_memory(only) > child["memory"] and held_memory(only) > child["memory"]:
                child["oom"] = True
                os.kill(pid, signal.SIGKILL)


def resident_memory(only: int | None) -> int:
    """Bytes that submissions hold at most: of process `only`, or of all in this PID namespace but the zygote.

    Shared pages, those of the zygote among them, count once for each process that maps them.
    """
    page = os.sysconf("SC_PAGE_SIZE")
    total = 0
    for name in _submissions(only):
        try:
            with open(f"/proc/{name}/statm") as file:
                fields = file.read().split()
        except OSError:
            continue
        total += (int(fields[1]) - int(fields[2])) * page + _shared_anonymous(name)
    return total


def held_memory(only: int | None) -> int:
    """The same, each shared page divided by the number of processes that map it.

    Where the kernel does not tell, what `resident_memory` says: a limit is met early, never late.
    A process that has ended since it was listed, or waits to be reaped, holds nothing.
    """
    if not os.path.exists(f"/proc/{os.getpid()}/smaps_rollup"):
        return resident_memory(only)
    total = 0
    for name in _submissions(only):
        try:
            with open(f"/proc/{name}/smaps_rollup") as file:
                lines = [line.split() for line in file if line.startswith(("Pss_Anon:", "Pss_Shmem:"))]
        except (FileNotFoundError, ProcessLookupError):
            continue
        except OSError:
            return resident_memory(only)
        total += sum(int(line[1]) * 1024 for line in lines)
    return total


def _submissions(only: int | None) -> list[str]:
    try:
        names = os.listdir("/proc") if only is None else [str(only)]
    except OSError:
        return []
    own = str(os.getpid())
    return [name for name in names if name.isdigit() and name != own]


def _shared_anonymous(pid: str) -> int:
    """Bytes of shared anonymous memory and tmpfs pages, which RLIMIT_DATA does not see."""
    try:
        with open(f"/proc/{pid}/status") as file:
            for line in file:
                if line.startswith("RssShmem:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return 0


def _warm(shell: Any) -> None:
    """Pay here, once, for what a first cell, a first figure and a first traceback import."""
    shell.outputs.start()
    shell.run_cell("import matplotlib.pyplot as plt; plt.figure(); plt.plot([0, 1]); plt.show()")
    shell.run_cell("def warm():\n    raise ValueError('warm')\nwarm()")
    shell.run_cell("plt.close('all')")
    shell.run_cell("import torch; torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)")
    shell.run_cell("try:\n    import sklearn.datasets\nexcept ImportError:\n    pass")
    shell.reset(new_session=True)
    shell.outputs.start()


def main() -> None:
    """Entry point: `argv` holds the control descriptor and the settings as JSON."""
    launch(int(sys.argv[1]), json.loads(sys.argv[2]))


from autograder.sandbox.worker import Worker as _Worker  # noqa: E402  (last: it imports torch)

"""The process that submissions are forked from: a fork of the seed, in namespaces of its own.

Imports nothing of the package but its siblings, and these are taken out of `sys.modules` before any code
of a notebook runs.
"""

from __future__ import annotations

import gc
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
from autograder.sandbox.confine import Layers, confine
from autograder.sandbox.memory import held_memory, resident_memory, socket_memory

#: Files that matplotlib keeps open, and opens anew in a fork by itself.
_FONTS = (".ttf", ".otf", ".ttc", ".pfb", ".afm")
#: How often it is looked how much memory a submission holds.
_WATCH_SECONDS = 0.05


class Zygote:
    """Forks on request, kills on request, and says how each child ended."""

    def __init__(self, control: socket.socket, settings: dict[str, Any], shell: Any, layers: Layers) -> None:
        self._control = control
        self._settings = settings
        self._shell = shell
        self._layers = layers
        self._children: dict[int, dict[str, Any]] = {}
        self._own_pid_namespace = pid_namespace()  # now: the view may have no /proc

    def run(self) -> None:
        if "mount namespace" in self._layers.reached:
            settings = self._settings
            self._layers.lay("view", view.enter, settings["root"], settings["readable"], settings["hidden"])
            if "view" not in self._layers.reached:
                self._layers.reasons["mount namespace"] = self._layers.reasons["view"]
        outputs, reason = self._run_prefix()
        protocol.send(self._control, {"ready": True, "outputs": outputs, "reason": reason})
        while True:
            watched = [
                self._control,
                *(child["pidfd"] for child in self._children.values() if child["pidfd"]),
            ]
            ready = select.select(watched, [], [], _WATCH_SECONDS if self._children else None)[0]
            if self._control in ready and not self._obey():
                return
            self._watch()

    def _run_prefix(self) -> tuple[list[Any], str]:
        """Run the course's own first cells; what they put out, and why they can not be shared if so."""
        prefix = self._settings["prefix"]
        if prefix is None:
            return [], ""
        if "view" not in self._layers.reached:
            return [], "this machine has no mount namespaces"
        limits, files = self._settings["limits"], prefix["files"]
        view.fresh_folders(int(limits["folder_size"]), os.geteuid(), os.getegid(), self._settings["readable"])
        os.chdir(view.WORK)
        os.environ["HOME"] = os.environ["TMPDIR"] = view.WORK
        sys.path.insert(0, "")
        for name, data in files.items():
            if os.path.dirname(name):
                os.makedirs(os.path.dirname(name), exist_ok=True)
            with open(name, "wb") as file:
                file.write(data)
        worker = _Worker(None, self._shell, limits)
        worker.redirect()
        before = _descriptors()
        outputs = []
        for source in prefix["cells"]:
            ran = worker.cell({"source": source, "seconds": limits["cell_seconds"]})
            if ran["failure"] is not None:
                kinds = ran["failure"]["kinds"] or ["it did not end within its time"]
                return [], f"one of them failed ({kinds[0]})"
            outputs.append(ran["outputs"])
        reason = _unshareable(before, files)
        if not reason:
            try:
                os.chdir("/")
                for folder in view.writable(self._settings["readable"]):
                    kernel.unmount(folder)
            except OSError as error:
                reason = f"their folder is still in use ({error.strerror})"
        sys.path.remove("")
        gc.collect()
        gc.freeze()
        return ([], reason) if reason else (outputs, "")

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
        if nested:
            kernel.setns(self._own_pid_namespace, kernel.CLONE_NEWPID)
        os.close(fd)
        self._children[pid] = {
            "memory": order["limits"]["memory"], "folder": folder, "oom": False, "pidfd": exit_descriptor(pid)
        }  # fmt: skip
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
            if child["pidfd"]:
                os.close(child["pidfd"])
            if child["folder"]:
                shutil.rmtree(child["folder"], ignore_errors=True)
            protocol.send(
                self._control,
                {"ended": pid, "code": os.waitstatus_to_exitcode(status), "oom": child["oom"]},
            )
        isolated = "pid namespace" in self._layers.reached
        for pid, child in self._children.items():
            only = None if isolated else pid
            most = child["memory"]
            if "network namespace" in self._layers.reached:  # else they are also the machine's
                most -= socket_memory(pid)
            # The exact measure is dear: it is taken only where the cheap one exceeds the limit.
            if resident_memory(only) > most and held_memory(only) > most:
                child["oom"] = True
                os.kill(pid, signal.SIGKILL)


def _descriptors() -> set[str]:
    """What is open here, by number and by what it is."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            found.add(f"{name} {os.readlink(f'/proc/self/fd/{name}')}")
        except OSError:
            continue  # of the listing itself
    return found


def _unshareable(before: set[str], files: dict[str, bytes]) -> str:
    """Why a process in which the course's cells have run can not be forked for submissions, if so."""
    if len(os.listdir("/proc/self/task")) > 1:
        return "they started a thread"
    opened = {one for one in _descriptors() - before if not one.endswith(_FONTS)}
    if opened:
        what = ", ".join(sorted(one.partition(" ")[2] for one in opened))
        return f"they hold a file or a connection open ({what[:200]})"
    try:
        os.waitpid(-1, os.WNOHANG)
        return "they started a process"
    except ChildProcessError:
        pass
    left = [os.path.join(place, name) for place, _, names in os.walk(view.WORK) for name in names]
    if {os.path.relpath(name, view.WORK) for name in left} != set(files):
        return "they write files"
    return ""


def pid_namespace() -> int:
    """A descriptor of this process's own, to come back to after a fork into another."""
    try:
        return os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return -1


def exit_descriptor(pid: int) -> int:
    """Readable when the process ends; 0 where there is no such thing."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return 0


from autograder.sandbox.worker import Worker as _Worker  # noqa: E402  (last: it imports torch)

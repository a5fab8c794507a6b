"""The layers that confine one submission, in the order in which they must be laid.

Each is tried by itself and named when reached; the trusted side decides whether what was reached
is enough. Runs in the sandboxed process before any student code: standard library only.
"""

from __future__ import annotations

import os
import resource
from typing import Any

from autograder.sandbox import kernel, landlock, seccomp, view

#: What a sandbox on Linux has; anything less is degraded.
LAYERS = (
    "session",
    "pid namespace",
    "mount namespace",
    "network namespace",
    "ipc namespace",
    "privileges",
    "limits",
    "landlock",
    "seccomp",
)

#: Addresses, of which torch reserves far more than it uses: their page tables hold at most a 512th of it.
_ADDRESSES = 64 << 30
_PROCESS_FILES = ("/proc",)


class Layers:
    """What was reached so far, and why the rest was not."""

    def __init__(self, reached: list[str] | None = None, reasons: dict[str, str] | None = None) -> None:
        self.reached = list(reached or [])
        self.reasons = dict(reasons or {})

    def lay(self, name: str, step: Any, *arguments: Any) -> bool:
        """Run one step; on an OSError or ValueError remember its reason."""
        try:
            step(*arguments)
        except (OSError, ValueError, KeyError) as error:
            self.reasons[name] = str(error) or type(error).__name__
            return False
        self.reached.append(name)
        return True


def own_user_namespace() -> Layers:
    """For the seed: a user namespace where we are not root, while the process has one thread."""
    layers = Layers()
    uid, gid = os.geteuid(), os.getegid()
    if uid != 0:
        layers.lay("user namespace", _user_namespace, uid, gid)
    return layers


def leave_namespaces(seed: Layers) -> Layers:
    """For a zygote, a fork of the seed: namespaces of its own. The fork itself entered its PID namespace."""
    layers = Layers(seed.reached, seed.reasons)
    for name, flag in (
        ("mount namespace", kernel.CLONE_NEWNS),
        ("network namespace", kernel.CLONE_NEWNET),
        ("ipc namespace", kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS),
    ):
        layers.lay(name, kernel.unshare, flag)
    return layers


def _user_namespace(uid: int, gid: int) -> None:
    kernel.unshare(kernel.CLONE_NEWUSER)
    for path, text in (
        ("/proc/self/setgroups", "deny"),
        ("/proc/self/uid_map", f"{uid} {uid} 1"),
        ("/proc/self/gid_map", f"{gid} {gid} 1"),
    ):
        with open(path, "w") as file:
            file.write(text)


def confine(
    zygote: Layers, limits: dict[str, Any], readable: list[str], hidden: list[str], uid: int
) -> Layers:
    """Lay every layer on this process, a fork of a zygote whose own layers are `zygote`.

    `limits`: the fields of `Limits`; `uid`: who to become when started by root.
    """
    layers = Layers(reasons=zygote.reasons)
    root = os.geteuid() == 0 and "user namespace" not in zygote.reached
    owner, group = (uid, uid) if root else (os.geteuid(), os.getegid())
    layers.lay("session", os.setsid)
    if "pid namespace" in zygote.reached:  # the fork itself entered it
        layers.reached.append("pid namespace")
    viewed = "view" in zygote.reached
    if viewed:
        layers.lay("mount namespace", _own_folders, int(limits["folder_size"]), owner, group, readable)
    if "network namespace" in zygote.reached:
        layers.lay("network namespace", kernel.unshare, kernel.CLONE_NEWNET)
    if "ipc namespace" in zygote.reached:
        layers.lay("ipc namespace", kernel.unshare, kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS)
    layers.lay("privileges", _privileges, owner, group, root)
    layers.lay("limits", _limits, limits)
    layers.lay("landlock", _landlock, readable, hidden, viewed)
    layers.lay("seccomp", seccomp.install)
    return layers


def _own_folders(size: int, uid: int, gid: int, readable: list[str]) -> None:
    kernel.unshare(kernel.CLONE_NEWNS)
    view.fresh_folders(size, uid, gid, readable)


def _privileges(uid: int, gid: int, root: bool) -> None:
    if root:
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    kernel.drop_capabilities()
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, kernel.SIGKILL)  # a change of uid has cleared it


def _limits(limits: dict[str, Any]) -> None:
    cpu = int(limits["cpu_seconds"])
    for kind, soft, hard in (
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NOFILE, 256, 256),
        (resource.RLIMIT_DATA, int(limits["memory"]), int(limits["memory"])),
        (resource.RLIMIT_AS, _ADDRESSES, _ADDRESSES),
        (resource.RLIMIT_FSIZE, int(limits["file_size"]), int(limits["file_size"])),
        (resource.RLIMIT_NPROC, int(limits["processes"]), int(limits["processes"])),
        (resource.RLIMIT_CPU, cpu, cpu + 2),
    ):
        ceiling = resource.getrlimit(kind)[1]
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(kind, (soft, hard))


def _landlock(readable: list[str], hidden: list[str], viewed: bool) -> None:
    read: list[str] = [*view.SYSTEM, *view.DEVICES]
    listed: list[str] = []
    outside = {os.path.realpath(path) for path in hidden}
    for path in readable:
        if viewed or not any(one.startswith(os.path.realpath(path) + "/") for one in outside):
            read.append(path)
            continue
        listed.append(path)  # its entries one by one: a rule can not be taken back for one of them
        for entry in os.scandir(path):
            if os.path.realpath(entry.path) not in outside:
                read.append(entry.path)
    if viewed:
        read.extend(_PROCESS_FILES)
    write = view.writable(readable) if viewed else [os.getcwd()]
    landlock.restrict(read, listed, [*write, "/dev/null"])

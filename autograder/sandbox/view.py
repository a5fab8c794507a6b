"""What a sandbox sees of the disk: a root of its own, with the system read-only and nothing of the course.

Landlock can not subtract a folder, so where site-packages is readable, a package installed in it
is too. A mount namespace can: folders to hide get an empty one on top. Standard library only.
"""

from __future__ import annotations

import os

from autograder.sandbox import kernel

SYSTEM = (
    "/usr",
    "/lib",
    "/lib64",
    "/lib32",
    "/bin",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/localtime",
    "/sys/devices/system/cpu",  # its siblings count what the whole machine does
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", "/dev/full")
WORK = "/notebook"
SCRATCH = "/tmp"
_INODES = 20_000  # an empty file takes a kilobyte of the machine's memory and none of a folder's size


def enter(root: str, readable: list[str], hidden: list[str]) -> None:
    """Replace the root by a view, built on the empty folder `root`: `SYSTEM`, `DEVICES` and `readable`,
    with `hidden` folders emptied.

    For a process in a mount namespace of its own (and a PID namespace, whose /proc it mounts).
    Raises OSError.
    """
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("view", root, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "size=1m,mode=755")
    bound: list[str] = []
    for path in [*SYSTEM, *DEVICES, *readable]:
        path = os.path.normpath(path)
        if not os.path.exists(path) or any(_inside(path, outer) for outer in bound):
            continue
        if os.path.islink(path):
            _link(path, root + path)
            path = os.path.realpath(path)
            if not os.path.exists(path) or any(_inside(path, outer) for outer in bound):
                continue
        _bind(path, root + path)
        bound.append(path)
    for path in hidden:
        target = root + os.path.realpath(path)
        if os.path.isdir(target) and any(_inside(os.path.realpath(path), outer) for outer in bound):
            kernel.mount(
                "hidden",
                target,
                "tmpfs",
                kernel.MS_RDONLY | kernel.MS_NOSUID | kernel.MS_NODEV,
                "size=4k,mode=555",
            )
    for folder in (WORK, SCRATCH, "/proc", "/old"):
        os.makedirs(root + folder, exist_ok=True)
    _mount_proc(root + "/proc")
    kernel.pivot_root(root, root + "/old")
    os.chdir("/")
    kernel.unmount("/old")
    os.rmdir("/old")
    # Nothing may be left here for a later submission: only the folders of each one are written to.
    flags = kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | kernel.MS_NOSUID | kernel.MS_NODEV
    kernel.mount("none", "/", None, flags)


def fresh_folders(size: int, uid: int, gid: int, readable: list[str]) -> None:
    """Mount an empty, sized working folder and an empty /tmp for one submission, and a new /proc.

    Where Python itself is installed beneath /tmp, that stays as it is and takes no files.
    """
    flags = kernel.MS_NOSUID | kernel.MS_NODEV
    for folder, share in zip(writable(readable), (size, size // 4), strict=False):
        options = f"size={share},nr_inodes={_INODES},mode=700,uid={uid},gid={gid}"
        kernel.mount("scratch", folder, "tmpfs", flags, options)
    _mount_proc("/proc")


def writable(readable: list[str]) -> list[str]:
    """The folders that a submission may write to."""
    taken = any(_inside(path, SCRATCH) for path in readable)
    return [WORK] if taken else [WORK, SCRATCH]


def _mount_proc(target: str) -> None:
    """Processes only, where the kernel can (5.8 and later).

    The rest of /proc counts forks, interrupts and memory of the whole machine: one process could tell another
    something by it, across every namespace.
    """
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    for options in ("subset=pid", None):
        try:
            kernel.mount("proc", target, "proc", flags, options)
        except OSError:
            continue  # a container may forbid it; a sandbox without /proc sees less, not more
        return


def _inside(path: str, outer: str) -> bool:
    return path == outer or path.startswith(outer.rstrip("/") + "/")


def _link(path: str, target: str) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if not os.path.lexists(target):
        os.symlink(os.readlink(path), target)


def _bind(path: str, target: str) -> None:
    if os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "a"):
            pass
    kernel.mount(path, target, None, kernel.MS_BIND | kernel.MS_REC)
    if path in DEVICES:
        return
    # A mount that came from outside a user namespace keeps its flags locked: name them again.
    kept = os.statvfs(target).f_flag & (kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    flags = kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | kernel.MS_NOSUID | kept
    kernel.mount("none", target, None, flags)

"""The few system calls that Python does not offer. Runs in the sandboxed process: standard library only."""

from __future__ import annotations

import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 24, 38
CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x4000000, 0x8000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
MNT_DETACH = 2
SIGKILL = 9

_CAPABILITY_VERSION_3 = 0x20080522
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CLOSE_RANGE = 436


def _raise(path: str | None = None) -> None:
    code = ctypes.get_errno()
    raise OSError(code, os.strerror(code), path)


def syscall(number: int, *arguments: object) -> int:
    """A raw system call. Raises OSError."""
    result: int = _libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        _raise()
    return result


def prctl(option: int, value: int = 0, argument: object = None) -> None:
    """prctl(2) with at most two arguments. Raises OSError."""
    second = ctypes.c_ulong(0) if argument is None else argument
    zero = ctypes.c_ulong(0)
    if _libc.prctl(option, ctypes.c_ulong(value), second, zero, zero) < 0:
        _raise()


def unshare(flags: int) -> None:
    """Leave namespaces. Raises OSError."""
    if _libc.unshare(ctypes.c_int(flags)) != 0:
        _raise()


def setns(fd: int, kind: int) -> None:
    """Enter a namespace. Raises OSError."""
    if _libc.setns(ctypes.c_int(fd), ctypes.c_int(kind)) != 0:
        _raise()


def mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """mount(2). Raises OSError naming the target."""
    done = _libc.mount(
        source.encode(),
        target.encode(),
        kind.encode() if kind else None,
        ctypes.c_ulong(flags),
        data.encode() if data else None,
    )
    if done != 0:
        _raise(target)


def unmount(target: str) -> None:
    """Detach a mount. Raises OSError."""
    if _libc.umount2(target.encode(), ctypes.c_int(MNT_DETACH)) != 0:
        _raise(target)


def pivot_root(new_root: str, put_old: str) -> None:
    """pivot_root(2). Raises OSError."""
    syscall(_PIVOT_ROOT[os.uname().machine], new_root.encode(), put_old.encode())


def drop_capabilities() -> None:
    """Give up every capability, for good. Raises OSError."""
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            break
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    syscall(_CAPSET[os.uname().machine], ctypes.byref(header), ctypes.byref(nothing))


def close_all_but(keep: int) -> None:
    """Close every descriptor above 2 except `keep`."""
    for first, last in ((3, keep - 1), (keep + 1, (1 << 32) - 1)):
        if first <= last:
            try:
                syscall(_CLOSE_RANGE, ctypes.c_uint(first), ctypes.c_uint(last), ctypes.c_uint(0))
            except OSError:
                os.closerange(first, min(last + 1, 65536))

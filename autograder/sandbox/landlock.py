"""Landlock: which files a process may open, as the kernel's version allows. Standard library only."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable

from autograder.sandbox.kernel import PR_SET_NO_NEW_PRIVS, prctl, syscall

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_EXECUTE, _WRITE, _READ, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_ON_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE | _IOCTL
_PATH_BENEATH = 1


def version() -> int:
    """The Landlock ABI of this kernel, 0 where there is none."""
    try:
        return syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    except OSError:
        return 0


def restrict(read: Iterable[str], listed: Iterable[str], write: Iterable[str]) -> None:
    """Allow reading beneath `read`, only listing beneath `listed`, anything beneath `write`; no more.

    From ABI 4 TCP is refused too, from ABI 6 signals and abstract sockets to outside.
    Raises OSError where the kernel has no Landlock.
    """
    abi = version()
    if abi < 1:
        raise OSError("this kernel has no Landlock, or it is not enabled at boot")
    files = (1 << 13) - 1
    files |= (1 << 13) * (abi >= 2) | _TRUNCATE * (abi >= 3) | _IOCTL * (abi >= 5)
    network = 3 if abi >= 4 else 0
    scopes = 3 if abi >= 6 else 0
    attributes = struct.pack("<QQQ", files, network, scopes)
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    ruleset = syscall(_CREATE, ctypes.c_char_p(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for paths, access in (
            (read, _EXECUTE | _READ | _READ_DIR),
            (listed, _READ_DIR),
            (write, files),
        ):
            for path in paths:
                _allow(ruleset, path, access & files)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        syscall(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # a path that is not there needs no rule
    try:
        if not os.path.isdir(path):
            access &= _ON_FILES
        if access:
            rule = struct.pack("<Qi", access, fd)
            syscall(
                _ADD,
                ctypes.c_int(ruleset),
                ctypes.c_int(_PATH_BENEATH),
                ctypes.c_char_p(rule),
                ctypes.c_uint32(0),
            )
    finally:
        os.close(fd)

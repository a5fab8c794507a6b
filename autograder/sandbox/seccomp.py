"""Seccomp: system calls that no homework needs are refused. Standard library only.

A deny list, because torch and numpy use too many calls for an allow list to survive an update;
files, network and processes are held by the other layers too. `socket` is refused for every
family (Landlock does not cover connecting to a path), `socketpair` stays, which asyncio needs.
Memory that belongs to no process (memfd, System V, shared pages of no file) is refused as well:
it can be held without being resident anywhere, so that no limit counts it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

from autograder.sandbox.kernel import PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, prctl

#: name: (x86_64, aarch64); None where the architecture has no such call.
_DENIED: dict[str, tuple[int, int | None]] = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "open_by_handle_at": (304, 265),
    "personality": (135, 92),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "syslog": (103, 116),
    "iopl": (172, None),
    "ioperm": (173, None),
    "memfd_secret": (447, 447),
    "fanotify_init": (300, 262),
    "socket": (41, 198),
    "setsockopt": (54, 208),  # a pair of sockets with large buffers holds megabytes that no process owns
    "memfd_create": (319, 279),
    "shmget": (29, 194),
    "msgget": (68, 186),
}
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE3 = 435
_NEW_NAMESPACES = 0x7E020080  # every CLONE_NEW* flag
_MMAP = {"x86_64": 9, "aarch64": 222}
_SHARED_ANONYMOUS = 0x21  # MAP_SHARED, or MAP_SHARED_VALIDATE, and MAP_ANONYMOUS

_LOAD, _AND, _EQUAL, _ANY_BIT, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x45, 0x35, 0x06
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_NR, _ARCH, _FIRST_ARGUMENT, _FOURTH_ARGUMENT = 0, 4, 16, 40


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def install() -> None:
    """Install the filter for this process and all that it starts. Raises OSError."""
    code = program(os.uname().machine)
    buffer = ctypes.create_string_buffer(code, len(code))
    handle = _Program(len(code) // 8, ctypes.addressof(buffer))
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_SECCOMP, 2, ctypes.byref(handle))


def program(machine: str) -> bytes:
    """The BPF program, 8 bytes an instruction. Raises OSError for a processor that is not known."""
    if machine not in _AUDIT_ARCH:
        raise OSError(f"no seccomp filter for the processor '{machine}'")
    column = 0 if machine == "x86_64" else 1
    steps: list[bytes] = []

    def step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> None:
        steps.append(struct.pack("<HBBI", code, if_true, if_false, value & 0xFFFFFFFF))

    def refuse(number: int) -> int:
        return 0x00050000 | number

    step(_LOAD, _ARCH)
    step(_EQUAL, _AUDIT_ARCH[machine], 1, 0)
    step(_RETURN, _KILL)
    step(_LOAD, _NR)
    if machine == "x86_64":  # the x32 table would give every call a second number
        step(_AT_LEAST, 0x40000000, 0, 1)
        step(_RETURN, refuse(errno.EPERM))
    for numbers in _DENIED.values():
        number = numbers[column]
        if number is not None:
            step(_EQUAL, number, 0, 1)
            step(_RETURN, refuse(errno.EACCES if number in _DENIED["socket"] else errno.EPERM))
    step(_EQUAL, _CLONE3, 0, 1)  # its flags lie in memory, out of the filter's sight: use clone
    step(_RETURN, refuse(errno.ENOSYS))
    step(_EQUAL, _CLONE[machine], 0, 3)
    step(_LOAD, _FIRST_ARGUMENT)
    step(_ANY_BIT, _NEW_NAMESPACES, 0, 1)
    step(_RETURN, refuse(errno.EPERM))
    step(_LOAD, _NR)
    step(_EQUAL, _MMAP[machine], 0, 4)
    step(_LOAD, _FOURTH_ARGUMENT)
    step(_AND, _SHARED_ANONYMOUS)
    step(_EQUAL, _SHARED_ANONYMOUS, 0, 1)
    step(_RETURN, refuse(errno.ENOMEM))
    step(_RETURN, _ALLOW)
    return b"".join(steps)

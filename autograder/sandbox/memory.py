"""How much memory a submission's processes hold, as a zygote measures it. Standard library only.

No privilege is needed for it, and no control group: what `RLIMIT_DATA` does not see is counted as well
(shared pages, page tables, what waits in sockets).
"""

from __future__ import annotations

import os

#: What a socket holds when nobody reads: `net.core.wmem_default` of the kernel and a tenth (measured).
_SOCKET = 233_000


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
        total += (int(fields[1]) - int(fields[2])) * page + _uncounted(name)
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
        total += sum(int(line[1]) * 1024 for line in lines) + _counted(name, ("VmPTE:",))
    return total


def socket_memory(pid: int) -> int:
    """Bytes that the sockets of a process's network namespace may hold in what was sent and not yet read.

    Pairs of them are all that a submission can make; what waits in them belongs to no process's pages.
    """
    try:
        with open(f"/proc/{pid}/net/sockstat") as file:
            return int(file.readline().split()[2]) * _SOCKET
    except (OSError, ValueError, IndexError):
        return 0


def _submissions(only: int | None) -> list[str]:
    try:
        names = os.listdir("/proc") if only is None else [str(only)]
    except OSError:
        return []
    own = str(os.getpid())
    return [name for name in names if name.isdigit() and name != own]


def _uncounted(pid: str) -> int:
    """Bytes that a process holds beside its own pages: shared memory and tmpfs pages, and page tables.

    A page table is four kilobytes for each two megabytes of addresses that were touched at all, also where
    they hold nothing: RLIMIT_DATA sees none of it, nor does the resident size.
    """
    return _counted(pid, ("RssShmem:", "VmPTE:"))


def _counted(pid: str, names: tuple[str, ...]) -> int:
    """The sum in bytes of these lines of a process's status."""
    try:
        with open(f"/proc/{pid}/status") as file:
            return sum(int(line.split()[1]) * 1024 for line in file if line.startswith(names))
    except (OSError, ValueError, IndexError):
        return 0

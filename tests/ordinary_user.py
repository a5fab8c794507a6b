"""Run Python as an ordinary user, for tests that root runs.

Where the interpreter or the course lies beneath a folder that only root may enter, a private
mount namespace shows that folder with nothing but them in it. Run as a program:
`python ordinary_user.py HOME PATH... -- ARGUMENT...` becomes the interpreter with those arguments.
"""

from __future__ import annotations

import ctypes
import os
import stat
import subprocess
import sys
from pathlib import Path

UID = 61_234
#: The folder could not be prepared: the container forbids mounts.
UNAVAILABLE = 77
_NEWNS, _BIND, _REC, _PRIVATE = 0x20000, 4096, 16384, 1 << 18


def run_as_ordinary_user(
    arguments: list[str], home: Path, visible: list[Path], timeout: float
) -> subprocess.CompletedProcess[str]:
    """`python *arguments` as a user without rights, who can enter `visible` and owns `home`."""
    os.chown(home, UID, UID)
    paths = [str(path) for path in (Path(sys.prefix), Path(sys.base_prefix), *visible, home)]
    return subprocess.run(
        [sys.executable, __file__, str(home), *paths, "--", *arguments],
        cwd=home,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def _closed_above(path: str) -> str | None:
    """The highest folder above `path` that others may not enter."""
    for parent in reversed(Path(path).parents):
        if not os.stat(parent).st_mode & stat.S_IXOTH:
            return str(parent)
    return None


def _open_the_way(paths: list[str]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)

    def must(result: int) -> None:
        if result != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    closed: dict[str, list[str]] = {}
    for path in map(os.path.realpath, paths):
        above = _closed_above(path)
        if above is not None:
            closed.setdefault(above, []).append(path)
    must(libc.unshare(_NEWNS))
    must(libc.mount(b"none", b"/", None, ctypes.c_ulong(_REC | _PRIVATE), None))
    for folder, inside in closed.items():
        kept = {path: os.open(path, os.O_PATH) for path in inside}
        must(libc.mount(b"way", folder.encode(), b"tmpfs", ctypes.c_ulong(0), b"mode=755"))
        for path, fd in kept.items():
            os.makedirs(path, exist_ok=True)
            must(
                libc.mount(
                    f"/proc/self/fd/{fd}".encode(), path.encode(), None, ctypes.c_ulong(_BIND | _REC), None
                )
            )
            os.close(fd)


def main() -> None:
    split = sys.argv.index("--")
    home, *paths = sys.argv[1:split]
    try:
        _open_the_way(paths)
    except OSError as error:
        print(error, file=sys.stderr)
        sys.exit(UNAVAILABLE)
    os.setgroups([])
    os.setresgid(UID, UID, UID)
    os.setresuid(UID, UID, UID)
    environment = {"HOME": home, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
    os.execve(sys.executable, [sys.executable, *sys.argv[split + 1 :]], environment)


if __name__ == "__main__":
    main()

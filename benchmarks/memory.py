"""Benchmark 6, one machine: the memory that each worker has for itself, and what it shares.

    python -m benchmarks.memory --jobs 2

Unshared is the private memory (USS) of a worker's processes: the trusted one, the seed and its zygotes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.courses import CONV20, REPOSITORY, command, hand_in, make_course
from benchmarks.measure import machine, say


def private_and_all(pid: int) -> tuple[float, float]:
    """Megabytes that nobody else maps, and megabytes that a process maps."""
    private = resident = 0
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        name, *rest = line.split()
        if name in ("Private_Clean:", "Private_Dirty:"):
            private += int(rest[0])
        elif name == "Rss:":
            resident = int(rest[0])
    return private / 1024, resident / 1024


def family(root: int) -> dict[int, int]:
    """Every process below one, with its parent."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError):
                continue
    found: dict[int, int] = {}
    fresh = {root}
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh and pid not in found}
        found.update({pid: parents[pid] for pid in fresh})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    say(f"{chosen.jobs} jobs; {machine()}")
    with tempfile.TemporaryDirectory(prefix="benchmark-") as scratch:
        course = make_course(Path(scratch) / "course", CONV20)
        hand_in(course, CONV20, 60)
        log = course / ".deepdrills" / "log" / f"{CONV20}.log"
        process = subprocess.Popen(
            command("deepdrills", "grade", CONV20, "--quiet", "--jobs", str(chosen.jobs)),
            cwd=course,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            stdout=subprocess.DEVNULL,
        )
        while process.poll() is None:
            time.sleep(0.2)
            if log.exists() and log.read_text().count(" graded ") >= 10:
                break
        for pid, parent in sorted({process.pid: 0, **family(process.pid)}.items()):
            try:
                private, resident = private_and_all(pid)
                words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()[:60]
            except OSError:
                continue
            line = " ".join(words.split())
            say(f"  {pid} (of {parent}): {private:.0f} MiB of its own, {resident:.0f} MiB mapped: {line}")
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()

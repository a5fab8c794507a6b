"""Run a command and say what it took; tables of medians for RESULTS.md."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True)
class Took:
    """Wall and CPU seconds of one run, all its processes together."""

    wall: float
    cpu: float


def run(command: Sequence[str], folder: Path) -> Took:
    """Run a command to its end. Raises `SystemExit` with its last words when it fails."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment["PYTHONPATH"] = str(Path(__file__).parents[1])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(
            f"{' '.join(command)} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}"
        )
    return Took(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def medians(runs: Sequence[Took]) -> Took:
    return Took(median(one.wall for one in runs), median(one.cpu for one in runs))


def machine() -> str:
    """The machine's size, for the head of a result."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    return (
        f"{len(os.sched_getaffinity(0))} cores ({model}), {memory:.0f} GiB, "
        f"Python {platform.python_version()}, load before {os.getloadavg()[0]:.1f}"
    )


def say(text: str) -> None:
    print(text, flush=True)


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)

"""Run a command and say what it took; tables of medians for RESULTS.md."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True)
class Took:
    """Wall seconds of one run, and CPU seconds of the whole machine meanwhile.

    A process's own account leaves out children that nobody waits for, as those of the seed. So the machine
    must have nothing else to do.
    """

    wall: float
    cpu: float


def run(command: Sequence[str], folder: Path) -> Took:
    """Run a command to its end. Raises `SystemExit` with its last words when it fails."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment["PYTHONPATH"] = str(Path(__file__).parents[1])
    before = busy()
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    wall = time.perf_counter() - started
    cpu = busy() - before
    if done.returncode:
        raise SystemExit(
            f"{' '.join(command)} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}"
        )
    return Took(wall, cpu)


def busy() -> float:
    """Seconds that all processors have worked since the machine was started (proc(5), /proc/stat)."""
    user, nice, system, _idle, _waiting, irq, softirq = map(
        int, Path("/proc/stat").read_text().splitlines()[0].split()[1:8]
    )
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


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

"""Benchmark 4: many tiny submissions. Is the time of one the same in a large class, and the parent's memory?

    python -m benchmarks.many 1000 10000

Each has one exercise of ps1-convolution and the given code. Printed for each tenth of the class: the time
of a submission in it and the memory of the process that leads the run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat

from autograder.grading.answers import AnswerSheet
from autograder.grading.template import trimmed
from benchmarks.courses import PS1, REPOSITORY, command, hand_in
from benchmarks.measure import machine, say

_EXERCISE = "dense_parameters"


def make_tiny(root: Path) -> Path:
    """ps1-convolution with one exercise."""
    kept = {cell.grade_id for cell in trimmed(AnswerSheet(REPOSITORY, PS1).template, _EXERCISE).cells}
    path = Path("source") / PS1 / "convolution.ipynb"
    source = nbformat.read(REPOSITORY / path, as_version=4)
    source.cells = [
        cell for cell in source.cells if cell.metadata.get("nbgrader", {}).get("grade_id") in kept
    ]
    (root / path).parent.mkdir(parents=True)
    nbformat.write(source, root / path)
    (root / "nbgrader_config.py").write_text((REPOSITORY / "nbgrader_config.py").read_text())
    return root


def resident(pid: int) -> float:
    """Megabytes that a process holds."""
    fields = Path(f"/proc/{pid}/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def watch(root: Path, count: int) -> None:
    log = root / ".deepdrills" / "log" / f"{PS1}.log"
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    started = time.perf_counter()
    process = subprocess.Popen(
        command("deepdrills", "grade", PS1, "--quiet"), cwd=root, env=environment, stdout=subprocess.DEVNULL
    )
    tenth, before, begun = 1, 0, started
    while process.poll() is None:
        time.sleep(0.2)
        done = log.read_text().count(" graded ") if log.exists() else 0
        if done >= tenth * count / 10 and done > before:
            now = time.perf_counter()
            each = 1000 * (now - begun) / (done - before)
            say(f"  {done:6} done: {each:6.1f} ms a submission, parent {resident(process.pid):.0f} MiB")
            tenth, before, begun = int(10 * done / count) + 1, done, now
    seconds = time.perf_counter() - started
    if process.returncode:
        raise SystemExit(f"grading ended with {process.returncode}")
    say(f"{count} submissions: {seconds:.0f} s, {1000 * seconds / count:.1f} ms each, the start included")


def main() -> None:
    say(machine())
    for count in map(int, sys.argv[1:] or ["1000"]):
        with tempfile.TemporaryDirectory(prefix="benchmark-") as scratch:
            root = make_tiny(Path(scratch) / "course")
            hand_in(root, PS1, count)
            watch(root, count)


if __name__ == "__main__":
    main()

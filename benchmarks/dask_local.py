"""A Dask cluster of two workers on this machine against two local processes, on the same submissions.

Both are started anew in each round and timed from the call to the last result: spawning processes and
zygotes for the one; proving every layer of the sandbox, and sending content and submissions, for the other.
The Dask workers' interpreters run already, as a cluster's do. Nothing comes from the store.

    python benchmarks/dask_local.py                       # 20 submissions of ps1-convolution, 3 rounds
    python benchmarks/dask_local.py --exercise output_size   # one exercise: the smallest work a submission
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from rich.console import Console

from autograder.batch.cluster import grade_on_cluster
from autograder.batch.course import Course, Options
from autograder.batch.local import Done, grade_all
from autograder.batch.plan import Job, plan
from autograder.grading.answers import AnswerSheet
from autograder.grading.template import trimmed

REPOSITORY = Path(__file__).parents[1]
CONSOLE = Console(stderr=True)
WORKERS = 2


def a_class(root: Path, assignment: str, count: int, exercise: str | None) -> list[Job]:
    """A course folder with an assignment, or one exercise of it, and `count` different solved submissions."""
    for name in ("source", "solutions"):
        shutil.copytree(REPOSITORY / name / assignment, root / name / assignment)
    shutil.copy(REPOSITORY / "nbgrader_config.py", root)
    if exercise is not None:
        kept = {cell.grade_id for cell in trimmed(AnswerSheet(root, assignment).template, exercise).cells}
        (path,) = (root / "source" / assignment).glob("*.ipynb")
        source = nbformat.read(path, as_version=4)
        source.cells = [
            cell for cell in source.cells if cell.metadata.get("nbgrader", {}).get("grade_id") in kept
        ]
        nbformat.write(source, path)
    sheet = AnswerSheet(root, assignment)
    for number in range(count):
        data = sheet.notebook({})
        data["cells"].append({"cell_type": "markdown", "metadata": {}, "source": f"student {number}"})
        folder = root / "submitted" / f"s{number:04}" / assignment
        folder.mkdir(parents=True)
        (folder / f"{sheet.template.notebook}.ipynb").write_text(json.dumps(data), encoding="utf-8")
    return plan(root / "submitted", assignment, sorted(os.listdir(root / "submitted")))


@contextmanager
def dask(folder: Path) -> Iterator[str]:
    """A scheduler and its workers; gives the address."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"}
    file = folder / "scheduler.json"
    start = [sys.executable, "-m"]
    local = ["--host", "127.0.0.1", "--no-dashboard"]
    commands = [
        [*start, "distributed.cli.dask_scheduler", "--port", "0", "--scheduler-file", str(file), *local]
    ]
    worker = [
        "--scheduler-file",
        str(file),
        "--nthreads",
        "1",
        "--no-nanny",
        "--local-directory",
        str(folder),
    ]
    commands += [[*start, "distributed.cli.dask_worker", *worker, *local] for _ in range(WORKERS)]
    started: list[subprocess.Popen[bytes]] = []
    try:
        for command in commands:
            with open(folder / f"{len(started)}.log", "wb") as log:
                started.append(
                    subprocess.Popen(
                        command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
                    )
                )
            while not file.exists():
                time.sleep(0.1)
        address = str(json.loads(file.read_text())["address"])
        _wait_for_workers(address)
        yield address
    finally:
        for process in started:
            process.kill()
            process.wait()


def _wait_for_workers(address: str) -> None:
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(WORKERS, timeout=120)


def timed(ends: Iterable[Done], count: int) -> tuple[float, float]:
    """Seconds to the last result, and between the first result and the last."""
    started = time.perf_counter()
    moments = []
    for done in ends:
        if not done.ok:
            raise SystemExit(f"{done.student}: {done.trouble}")
        moments.append(time.perf_counter())
    assert len(moments) == count
    return moments[-1] - started, moments[-1] - moments[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--assignment", default="ps1-convolution")
    parser.add_argument("--exercise", help="only this exercise of the assignment")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="deepdrills-bench-") as name:
        root, folder = Path(name) / "course", Path(name) / "dask"
        root.mkdir()
        folder.mkdir()
        jobs = a_class(root, asked.assignment, asked.count, asked.exercise)
        course, options = Course(root), Options()
        rounds = []
        what = f"{asked.assignment}{', ' + asked.exercise if asked.exercise else ''}"
        print(f"{asked.count} submissions of {what}, {WORKERS} workers, {os.cpu_count()} cores")
        print("round | local: all, steady (s) | Dask: all, steady (s) | Dask/local: all, steady", flush=True)
        with dask(folder) as address, CONSOLE.status("") as status:
            for number in range(1, asked.rounds + 1):
                status.update(f"round {number} of {asked.rounds}: two local processes")
                here = timed(grade_all(course, asked.assignment, jobs, options, WORKERS, True), asked.count)
                status.update(f"round {number} of {asked.rounds}: two Dask workers")
                there = timed(
                    grade_on_cluster(course, asked.assignment, jobs, options, address, True), asked.count
                )
                rounds.append((here, there))
                ratios = f"{there[0] / here[0]:.2f}, {there[1] / here[1]:.2f}"
                times = f"{here[0]:.1f}, {here[1]:.1f} | {there[0]:.1f}, {there[1]:.1f}"
                print(f"{number} | {times} | {ratios}", flush=True)
    whole = statistics.median(there[0] / here[0] for here, there in rounds)
    steady = statistics.median(there[1] / here[1] for here, there in rounds)
    print(f"median of {asked.rounds} rounds: Dask/local {whole:.2f}, after the first result {steady:.2f}")


if __name__ == "__main__":
    main()

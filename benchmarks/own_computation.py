"""What a submission's own code takes: its cells and the calls of the suites, in one bare process.

python -m benchmarks.own_computation conv20
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

_CHILD = r"""
import contextlib, io, json, sys, time
import matplotlib
matplotlib.use("Agg")
import torch
torch.set_num_threads(1)
sys.path.insert(0, {repository!r})
from benchmarks import in_kernel
from benchmarks.in_kernel import score
steps = json.load(sys.stdin)
spent = []
class Timed(in_kernel._Names):
    def _timed(self, question, *arguments):
        started = time.process_time()
        try:
            return question(*arguments)
        finally:
            self.seconds += time.process_time() - started
    def call(self, *arguments): return self._timed(super().call, *arguments)
    def value(self, *arguments): return self._timed(super().value, *arguments)
    def drive(self, *arguments): return self._timed(super().drive, *arguments)
in_kernel._Names = Timed
for _ in range(6):
    Timed.seconds = 0.0
    names, cells = {{"__name__": "__main__"}}, 0.0
    with contextlib.redirect_stdout(io.StringIO()):
        for kind, text in steps:
            if kind == "cell":
                started = time.process_time()
                exec(compile(text, "cell", "exec"), names)
                cells += time.process_time() - started
            else:
                made = Timed(names)
                in_kernel._Names = lambda names, made=made: made
                score(*text, names)
                cells += made.seconds
                made.seconds = 0.0
        import matplotlib.pyplot as plt
        plt.close("all")
    spent.append(cells)
print(json.dumps(spent[1:]))
"""


def own_seconds(course: Path, assignment: str, submission: Path) -> float:
    """CPU seconds of one solved submission's cells and of its answers to the suites; the median of five.

    Pictures are left out, as grading leaves them out for right answers.
    """
    repository = Path(__file__).parents[1]
    suites = course / "suites" if (course / "suites").is_dir() else repository / "autograder" / "suites"
    steps: list[tuple[str, Any]] = []
    for cell in json.loads(submission.read_text())["cells"]:
        about = cell["metadata"].get("nbgrader", {})
        if cell["cell_type"] != "code" or "illustration" in cell["metadata"].get("tags", []):
            continue
        if about.get("grade"):
            exercise = about["grade_id"].removesuffix("_checks")
            steps.append(("checks", [str(suites), assignment, exercise, about["points"]]))
        else:
            steps.append(("cell", cell["source"]))
    done = subprocess.run(
        [sys.executable, "-c", _CHILD.format(repository=str(repository))],
        input=json.dumps(steps),
        capture_output=True,
        text=True,
        check=False,
        cwd=submission.parent,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    return median(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    from benchmarks.courses import hand_in, make_course

    with tempfile.TemporaryDirectory(prefix="benchmark-") as scratch:
        course = make_course(Path(scratch) / "course", sys.argv[1])
        (path,) = hand_in(course, sys.argv[1], 1)
        print(f"{1000 * own_seconds(course, sys.argv[1], path):.0f} ms")


if __name__ == "__main__":
    main()

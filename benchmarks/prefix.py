"""Benchmark 5: locked cells of twenty seconds before the first answer. Paid a worker, or a submission?

python -m benchmarks.prefix --students 12 --jobs 2
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import nbformat

from benchmarks.courses import CONV20, command, hand_in, make_course
from benchmarks.measure import Took, machine, medians, run, say

_WORK = "import time\n\nend = time.process_time() + {seconds}\nwhile time.process_time() < end:\n    pass"
#: A thread can not be forked, so with it the cells are run for each submission.
_THREAD = "\nimport threading\n\nthreading.Thread(target=threading.Event().wait, daemon=True).start()"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--students", type=int, default=12)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--unshared", action="store_true", help="measure it with a thread in the cells, too")
    chosen = parser.parse_args()
    say(f"{chosen.students} submissions, {chosen.jobs} jobs, {chosen.seconds:g} s before; {machine()}")
    for name, more in (("shared", ""), ("not to be shared", _THREAD)):
        if more and not chosen.unshared:
            continue
        took: list[Took] = []
        for _ in range(chosen.runs):
            with tempfile.TemporaryDirectory(prefix="benchmark-") as scratch:
                course = make_course(Path(scratch) / "course", CONV20)
                path = course / "source" / CONV20 / "conv20.ipynb"
                source = nbformat.read(path, as_version=4)
                (given,) = (cell for cell in source.cells if cell.get("id") == "given")
                given.source += "\n" + _WORK.format(seconds=chosen.seconds) + more
                nbformat.write(source, path)
                settings = course / "nbgrader_config.py"
                settings.write_text(settings.read_text() + "c.SandboxLimits.cell_seconds = 300.0\n")
                hand_in(course, CONV20, chosen.students)
                took.append(run(command("deepdrills", "grade", CONV20, "--jobs", str(chosen.jobs)), course))
        middle = medians(took)
        say(f"{name}: {middle.wall:.1f} s, {middle.cpu:.1f} s of CPU")


if __name__ == "__main__":
    main()

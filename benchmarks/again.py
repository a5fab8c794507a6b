"""Benchmark 3: the same class again, with nothing changed and with one submission of it changed.

python -m benchmarks.again conv20
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.courses import command, hand_in, make_course
from benchmarks.measure import Took, machine, medians, note, run, say


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("assignment", choices=["conv20", "ps1-convolution"])
    parser.add_argument("--students", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    say(f"{chosen.assignment}, {chosen.students} submissions; {machine()}")
    grade = command("deepdrills", "grade", chosen.assignment)
    nothing: list[Took] = []
    one: list[Took] = []
    with tempfile.TemporaryDirectory(prefix="benchmark-") as scratch:
        course = make_course(Path(scratch) / "course", chosen.assignment)
        paths = hand_in(course, chosen.assignment, chosen.students)
        note("the first run ...")
        run(grade, course)
        for number in range(chosen.runs):
            nothing.append(run(grade, course))
            text = paths[number].read_text()
            paths[number].write_text(text.replace("# student ", f"# changed {number}, student "))
            one.append(run(grade, course))
            note(f"nothing changed {nothing[-1]}, one changed {one[-1]}")
    for name, runs in (("nothing changed", nothing), ("1 changed", one)):
        took = medians(runs)
        say(f"{name}: {took.wall:.2f} s, {took.cpu:.2f} s of CPU")


if __name__ == "__main__":
    main()

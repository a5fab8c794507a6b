"""Benchmarks 1 and 2: a class of 100 graded by us and by stock nbgrader, in one run.

    python -m benchmarks.class_of_100 conv20
    python -m benchmarks.class_of_100 ps1-convolution --stock 10 --runs 3

Ours: `deepdrills grade` with every layer of the sandbox and the hidden suites, on an empty store and an
empty gradebook. Stock: `nbgrader autograde`, one thread, the same suites in the grade cells. `--stock 10`
gives nbgrader ten of the submissions; it grades one after the other in a kernel for each, so its time for
all is ten times as long (and what it needs to start is counted as often: it is a hundredth of a run).
Overhead is CPU beyond the students' own code, which is measured in a bare process; a class of one tells what
of it is the start of a run.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.courses import command, hand_in, make_course, make_stock, take_over
from benchmarks.measure import Took, machine, medians, note, run, say
from benchmarks.own_computation import own_seconds


def ours(course: Path, assignment: str, jobs: int) -> Took:
    """Grade the class from nothing."""
    for name in (".deepdrills", "autograded"):
        run(["rm", "-rf", name], course)
    run(["rm", "-f", "gradebook.db"], course)
    run(command("deepdrills", "release", assignment), course)
    return run(command("deepdrills", "grade", assignment, "--jobs", str(jobs)), course)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("assignment", choices=["conv20", "ps1-convolution"])
    parser.add_argument("--students", type=int, default=100)
    parser.add_argument("--stock", type=int, help="how many of them stock nbgrader grades; all by default")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    part = chosen.students if chosen.stock is None else chosen.stock
    say(f"{chosen.assignment}, {chosen.students} submissions, {chosen.jobs} jobs; {machine()}")
    mine: list[Took] = []
    theirs: list[Took] = []
    own: list[float] = []
    start: list[Took] = []
    with tempfile.TemporaryDirectory(prefix="benchmark-") as scratch:
        course = make_course(Path(scratch) / "ours", chosen.assignment)
        paths = hand_in(course, chosen.assignment, chosen.students)
        single = make_course(Path(scratch) / "single", chosen.assignment)
        hand_in(single, chosen.assignment, 1)
        for number in range(chosen.runs):
            note(f"run {number + 1} of {chosen.runs}: the students' own code ...")
            own.append(own_seconds(course, chosen.assignment, paths[0]) * chosen.students)
            note("ours: one submission, then all ...")
            start.append(ours(single, chosen.assignment, chosen.jobs))
            mine.append(ours(course, chosen.assignment, chosen.jobs))
            if part:
                note(f"stock, {part} submissions ...")
                stock = make_stock(Path(scratch) / f"stock{number}", course, chosen.assignment)
                run(command("nbgrader", "generate_assignment", chosen.assignment), stock)
                take_over(course, stock, chosen.assignment, part)
                took = run(command("nbgrader", "autograde", chosen.assignment), stock)
                theirs.append(Took(took.wall * chosen.students / part, took.cpu * chosen.students / part))
            note(f"ours {mine[-1]}, stock {theirs[-1:]}, own {own[-1]:.1f}")
    us, limit = medians(mine), median(own) / chosen.jobs
    say(f"students' own code: {median(own):.1f} s of one core; limit on {chosen.jobs} jobs: {limit:.1f} s")
    say(f"ours:  {us.wall:.1f} s, {us.cpu:.1f} s of CPU; {us.wall / limit:.2f} times the limit")
    overhead = 1000 * (us.cpu - median(own)) / chosen.students
    say(f"overhead a submission: {overhead:.0f} ms of CPU, the start of the run included")
    more = [
        (all_.cpu - one.cpu) / (chosen.students - 1) - self_ / chosen.students
        for all_, one, self_ in zip(mine, start, own, strict=True)
    ]
    first = medians(start)
    say(f"one submission alone: {first.wall:.1f} s, {first.cpu:.1f} s of CPU")
    say(f"overhead of each further one: {1000 * median(more):.0f} ms of CPU")
    if theirs:
        them = medians(theirs)
        ratios = [stock.wall / our.wall for stock, our in zip(theirs, mine, strict=True)]
        say(f"stock: {them.wall:.1f} s, {them.cpu:.1f} s of CPU (from {part} submissions)")
        say(f"ours is {median(ratios):.1f} times faster ({', '.join(f'{one:.1f}' for one in ratios)})")


if __name__ == "__main__":
    main()

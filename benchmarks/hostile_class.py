"""Benchmark: a hostile class of 100 beside an honest one, in one run, with the limits as they come.

    python -m benchmarks.hostile_class
    python -m benchmarks.hostile_class --lasting --slowest 20

Each hostile submission answers one exercise of ps1 with an attack of `tests/submissions/hostile`: an even
choice of all of them; with `--lasting`, every one that is made to last (memory, time, floods, processes that
cannot be interrupted) and an even choice of the others. The honest class is right throughout. What counts is
the ratio of their times.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path

from autograder.grading.answers import AnswerSheet
from benchmarks.class_of_100 import ours
from benchmarks.courses import PS1, hand_in, make_course
from benchmarks.measure import machine, note, run, say
from tests.submissions.arena import ATTACKED
from tests.submissions.hostile.attacks import ATTACKS, Attack

#: Groups whose members are made to last; all of them take part.
LASTING = ("ends and exhaustion", "what outlives a submission", "answers that come too late")


def chosen(count: int, all_lasting: bool) -> list[Attack]:
    """So many attacks, evenly chosen; after all that last, where asked."""
    lasting = [attack for attack in ATTACKS if all_lasting and attack.group in LASTING][:count]
    others = [attack for attack in ATTACKS if not all_lasting or attack.group not in LASTING]
    step = len(others) / max(1, count - len(lasting))
    return [*lasting, *(others[int(n * step)] for n in range(count - len(lasting)))]


def hand_in_attacks(root: Path, attacks: list[Attack]) -> None:
    sheet = AnswerSheet(root, PS1)
    for number, attack in enumerate(attacks):
        notebook = sheet.notebook({ATTACKED: f"{attack.code}\n# student {number}"})
        attack.edit(notebook)
        folder = root / "submitted" / f"m{number:03}" / PS1
        folder.mkdir(parents=True)
        for name, content in attack.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        (folder / f"{sheet.template.notebook}.ipynb").write_text(json.dumps(notebook))


def slowest(course: Path, attacks: list[Attack], most: int) -> list[str]:
    """What took longest, by the reports in the graded notebooks."""
    took = []
    for number, attack in enumerate(attacks):
        for path in (course / "autograded" / f"m{number:03}" / PS1).glob("*.ipynb"):
            report = json.loads(path.read_text())["metadata"]["deepdrills"]["report"]
            took.append((report["seconds"], f"{attack.group}: {attack.name}"))
    return [f"{seconds:7.1f} s  {name}" for seconds, name in sorted(took, reverse=True)[:most]]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--students", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--lasting", action="store_true", help="with every attack that is made to last")
    parser.add_argument("--slowest", type=int, default=10, help="how many of the slowest are listed")
    asked = parser.parse_args()
    say(f"{PS1}, {asked.students} submissions each, {asked.jobs} jobs; {machine()}")
    with tempfile.TemporaryDirectory(prefix="benchmark-") as scratch:
        honest = make_course(Path(scratch) / "honest", PS1)
        hand_in(honest, PS1, asked.students)
        hostile = make_course(Path(scratch) / "hostile", PS1)
        attacks = chosen(asked.students, asked.lasting)
        hand_in_attacks(hostile, attacks)
        note("the honest class ...")
        right = ours(honest, PS1, asked.jobs)
        note(f"{right}; the hostile one ...")
        wrong = ours(hostile, PS1, asked.jobs)
        say(f"honest: {right.wall:.1f} s, {right.cpu:.1f} s of CPU")
        say(f"hostile: {wrong.wall:.1f} s, {wrong.cpu:.1f} s of CPU")
        say(f"the hostile class takes {wrong.wall / right.wall:.1f} times as long; slowest:")
        for line in slowest(hostile, attacks, asked.slowest):
            say(line)
        run(["rm", "-rf", str(hostile)], Path(scratch))


if __name__ == "__main__":
    main()

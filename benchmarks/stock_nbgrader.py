"""Hand every named submission of tests/submissions/ to a plain nbgrader, and write down what it gives.

The course is the same short notebook of ps1, with plain asserts in the hidden region as nbgrader's own
documentation writes them. Everything is the default but the course's name. Hostile code runs here, so
each run is jailed: no network, its own processes, a tmpfs, a user without rights, limits. Needs root.

    python -m benchmarks.stock_nbgrader            # measures what tests/submissions/stock.json lacks
    python -m benchmarks.stock_nbgrader --again    # measures everything again
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import json
import os
import re
import resource
import shutil
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat

from tests.ordinary_user import UID
from tests.submissions.arena import ASSIGNMENT, ROOT
from tests.submissions.hostile.attacks import ATTACKS
from tests.submissions.odd.case import NOTEBOOK, Odd, sheet
from tests.submissions.odd.test_odd import CASES

STOCK = ROOT / "tests" / "submissions" / "stock.json"
SECONDS = 240
#: Attacks that could spoil the measurement of others are run alone.
ALONE = {
    "the course's files",
    "ends and exhaustion",
    "what outlives a submission",
    "the system around it",
    "detection of grading",
}
_TOGETHER = 12
HandIn = Callable[[Path], object]
#: What an instructor would write by hand for these three exercises.
ASSERTS = {
    "dense_parameters": "assert dense_parameters(784, 10) == 7850\nassert dense_parameters(2, 9) == 27",
    "output_size": "for case, size in (((32, 5), 28), ((9, 4, 3), 12), ((11, 3, 1, 2), 6)):\n"
    "    assert np.allclose(output_size(*case), size)",
    "max_pool": "assert np.allclose(max_pool(np.arange(36.0).reshape(6, 6), 3), [[14, 17], [32, 35]])\n"
    "assert np.allclose(max_pool(-np.ones((2, 2))), [[-1]])",
}


def make_course(root: Path) -> None:
    """The short notebook as a plain nbgrader course."""
    path = Path("source") / ASSIGNMENT / NOTEBOOK
    source = nbformat.read(ROOT / path, as_version=4)
    kept = {cell.grade_id for cell in sheet().template.cells}
    source.cells = [one for one in source.cells if one.metadata.get("nbgrader", {}).get("grade_id") in kept]
    for cell in source.cells:
        cell.source = re.sub(r'check\("(\w+)"\)', lambda match: ASSERTS[match[1]], cell.source)
    (root / path).parent.mkdir(parents=True)
    nbformat.write(source, root / path)
    (root / "nbgrader_config.py").write_text('c = get_config()\nc.CourseDirectory.course_id = "stock"\n')


def nbgrader(root: Path, *arguments: str, seconds: float = SECONDS) -> tuple[int | None, str]:
    """One command in the jail; its exit code (None: stopped when its time was over) and its log."""
    inside = [sys.executable, "-m", "benchmarks.stock_nbgrader", "--inside", str(root), *arguments]
    command = ["unshare", "--net", "--pid", "--ipc", "--mount", "--fork", "--kill-child", "--mount-proc"]
    try:
        done = subprocess.run(
            [*command, *inside],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=seconds,
            errors="replace",
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return None, (late.stderr or b"").decode("utf-8", "replace")
    return done.returncode, done.stdout + done.stderr


def inside(root: str, arguments: list[str]) -> None:
    """In the jail: loopback for Jupyter's own sockets, limits, another user; then nbgrader."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))  # up and running
    limits = {"NPROC": 400, "DATA": 3 << 30, "FSIZE": 64 << 20, "CPU": 200, "CORE": 0}
    for name, most in limits.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    libc = ctypes.CDLL(None)
    for folder in (b"/tmp", b"/dev/shm"):
        if not any(path.encode().startswith(folder + b"/") for path in (root, str(ROOT), sys.prefix)):
            libc.mount(b"jail", folder, b"tmpfs", ctypes.c_ulong(0), b"size=256m,mode=1777")
    run = (
        "import os, sys; os.chdir(sys.argv[1]); "
        "os.environ['PATH'] = os.path.dirname(sys.executable) + ':/usr/bin:/bin'; "
        "sys.argv = ['nbgrader', *sys.argv[2:]]; "
        # nbgrader asks alembic for the same answer several times a submission: once is enough
        "import nbgrader.api, functools; "
        "nbgrader.api.get_alembic_version = functools.cache(nbgrader.api.get_alembic_version); "
        "from nbgrader.apps.nbgraderapp import NbGraderApp; NbGraderApp.launch_instance()"
    )
    visible = [sys.prefix, sys.base_prefix, root]
    program = [sys.executable, str(ROOT / "tests" / "ordinary_user.py"), root, *visible, "--"]
    os.execv(sys.executable, [*program, "-c", run, root, *arguments])


def scores(root: Path, student: str) -> dict[str, float]:
    """Points by exercise as the gradebook adds them up; empty when nothing was graded."""
    database = sqlite3.connect(f"file:{root / 'gradebook.db'}?mode=ro", uri=True)
    rows = database.execute(
        "select b.name, coalesce(g.manual_score, g.auto_score, 0) from grade g "
        "join submitted_notebook n on g.notebook_id = n.id "
        "join submitted_assignment a on n.assignment_id = a.id join base_cell b on b.id = g.cell_id "
        "where b.name like '%_checks' and a.student_id = ? order by b.name",
        (student,),
    ).fetchall()
    database.close()
    return {name.removesuffix("_checks"): float(points) for name, points in rows}


def said(log: str, student: str) -> str:
    """The line of nbgrader's log that says why a student was not graded."""
    about = log
    for part in re.split(r"\[AutogradeApp \| INFO\] (?:Copying|Overwriting files)", log):
        if f"/{student}/" in part.split("\n", 1)[0]:
            about = part
    wrong = [line.partition("] ")[2] for line in about.splitlines() if "| ERROR]" in line]
    ends = [line for line in about.splitlines() if re.match(r"[\w.]+(Error|Exception)\b", line)]
    text = re.sub(r"\x1b\[[0-9;]*m|/\S*/", "", (ends or wrong or [""])[-1])
    return re.sub(r"\s+", " ", text).strip()[:120]


def measure(course: Path, cases: dict[str, HandIn]) -> dict[str, Any]:
    """What submissions get in a copy of the course, handed in by one student each."""
    folder = Path(tempfile.mkdtemp(prefix="stock-", dir=course.parent))
    folder.chmod(0o755)
    root = folder / "course"
    students = {f"s{number:03}": name for number, name in enumerate(cases)}
    control = Odd("the control")  # comes last: a right submission that must be graded all the same
    try:
        shutil.copytree(course, root)
        for student, name in students.items():
            cases[name](root / "submitted" / student / ASSIGNMENT)
        control.hand_in(root / "submitted" / "zoe" / ASSIGNMENT)
        for path in (root, *root.rglob("*")):
            os.chown(path, UID, UID, follow_symlinks=False)
        code, log = nbgrader(root, "autograde", ASSIGNMENT, seconds=SECONDS + 60 * len(cases))
        found = {}
        for student, name in students.items():
            graded = (root / "autograded" / student / ASSIGNMENT / NOTEBOOK).is_file()
            points = scores(root, student) if graded else {}
            found[name] = {"points": points, "ended": code, "said": "" if points else said(log, student)}
        others = sum(scores(root, "zoe").values())
        if others != control.points:
            if len(cases) > 1:  # one of them stopped the whole batch: which?
                names = list(cases)
                half = len(names) // 2
                return {
                    **measure(course, {name: cases[name] for name in names[:half]}),
                    **measure(course, {name: cases[name] for name in names[half:]}),
                }
            next(iter(found.values()))["others"] = others
        return found
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--again", action="store_true", help="measure what is already written down too")
    parser.add_argument("--only", default="", help="only cases whose name holds this text")
    parser.add_argument("--inside", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.inside:
        inside(chosen.inside[0], chosen.inside[1:])
    known: dict[str, Any] = json.loads(STOCK.read_text()) if STOCK.exists() else {}
    cases: dict[str, HandIn] = {f"odd: {case.name}": case.hand_in for case in CASES}
    cases |= {f"{attack.group}: {attack.name}": attack.hand_in for attack in ATTACKS if attack.stock}
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="deepdrills-stock-") as scratch:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=900m,mode=755", "stock", scratch], check=True)
        try:
            course = Path(scratch) / "course"
            make_course(course)
            for path in (course, *course.rglob("*")):
                os.chown(path, UID, UID)
            code, log = nbgrader(course, "generate_assignment", ASSIGNMENT)
            if code != 0:
                raise SystemExit(log)
            wanted = [name for name in cases if chosen.only in name and (chosen.again or name not in known)]
            alone = [name for name in wanted if name.partition(":")[0] in ALONE]
            others = [name for name in wanted if name not in alone]
            parts = [others[at : at + _TOGETHER] for at in range(0, len(others), _TOGETHER)]
            for part in [*parts, *([name] for name in alone)]:
                known |= measure(course, {name: cases[name] for name in part})
                for name in part:
                    print(f"{name}: {known[name]}", flush=True)
                ordered = {name: known[name] for name in cases if name in known}
                STOCK.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        finally:
            subprocess.run(["umount", "--lazy", scratch], check=False)


if __name__ == "__main__":
    main()

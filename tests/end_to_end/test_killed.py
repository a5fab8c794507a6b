"""A run that is killed at any moment, again and again, ends as one that nobody disturbed."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest

from ..batch.small_course import ASSIGNMENT, WRONG, hand_in, make_course
from ..nbgrader_bridge.test_writing import rows

KILLS = 20
ENVIRONMENT = {**os.environ, "DEEPDRILLS_SECRET": "one for both"}


def command(name: str, root: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "autograder.cli", name, ASSIGNMENT, "--course", str(root)],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[bytes]) -> None:
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said.decode()[-3000:]


def ends(root: Path) -> dict[str, Any]:
    """The gradebook, the graded notebooks and the feedback, without what depends on the clock."""
    found: dict[str, Any] = {"gradebook": rows(root)}
    for path in sorted(root.glob("autograded/*/*/*.ipynb")):
        notebook = json.loads(json.dumps(nbformat.read(path, as_version=4)))
        notebook["metadata"]["deepdrills"]["report"].pop("seconds")
        found[str(path.relative_to(root))] = notebook
    for path in sorted(root.glob("feedback/*/*/*.html")):
        found[str(path.relative_to(root))] = path.read_text()
    return found


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    root = make_course(tmp_path / "fresh")
    for number, answer in enumerate([None, WRONG, None, "1 / 0"]):
        hand_in(root, f"s{number}", answer, before=f"mine = {number}")
    return root


def test_killed_at_twenty_moments_and_resumed(fresh: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    shutil.copytree(fresh, whole)
    started = time.monotonic()
    finish(command("grade", whole))
    seconds = time.monotonic() - started

    rng = random.Random(20)
    killed, root = 0, tmp_path / "killed"
    shutil.copytree(fresh, root)
    while killed < KILLS:
        process = command("grade", root)
        try:
            process.wait(rng.uniform(0.1, 1.0) * seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            killed += 1
            continue
        finish(process)
        assert ends(root) == ends(whole)
        shutil.rmtree(root)
        shutil.copytree(fresh, root)
    finish(command("grade", root))
    for course in (whole, root):
        finish(command("feedback", course))
    assert len([name for name in ends(whole) if name.endswith(".html")]) == 4
    assert ends(root) == ends(whole)

"""A gradebook that is locked for half a minute, and a disk that is full: a clear stop, and a clean resume."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from autograder.cli import ExitCode
from autograder.nbgrader_bridge.writing import LOCK_SECONDS

from ..batch.small_course import WRONG, hand_in, make_course
from .test_killed import command, ends, finish


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course that was graded without any trouble; `before` beside it is the same one ungraded."""
    place = tmp_path_factory.mktemp("stopped")
    root = make_course(place / "before")
    for number, answer in enumerate([None, WRONG]):
        hand_in(root, f"s{number}", answer, before=f"mine = {number}")
    shutil.copytree(root, place / "whole")
    finish(command("grade", place / "whole"))
    return place / "whole"


def stopped(process: subprocess.Popen[bytes]) -> str:
    said, _ = process.communicate(timeout=300)
    assert process.returncode == ExitCode.OUR_ERROR, said.decode()
    return " ".join(said.decode().split())


def test_a_gradebook_locked_for_thirty_seconds(whole: Path, tmp_path: Path) -> None:
    root = tmp_path / "course"
    shutil.copytree(whole.parent / "before", root)
    finish(command("release", root))
    with closing(sqlite3.connect(root / "gradebook.db")) as other:
        other.execute("BEGIN EXCLUSIVE")
        locked = time.monotonic()
        said = stopped(command("grade", root))
        assert f"another program has kept the gradebook locked for {LOCK_SECONDS:.0f} seconds" in said
        assert "run the same command again: what is graded is kept" in said
        assert "Traceback" not in said
        time.sleep(max(0.0, 30 - (time.monotonic() - locked)))
    finish(command("grade", root))
    assert ends(root) == ends(whole)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "none", place], check=False)
    if mounted.returncode:
        pytest.skip("mounting takes root")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


@pytest.mark.parametrize("room", [0, 150_000], ids=["no room at all", "room for a part"])
def test_a_full_disk(whole: Path, small_disk: Path, room: int) -> None:
    root = small_disk / "course"
    shutil.copytree(whole.parent / "before", root)
    with (small_disk / "filler").open("wb", buffering=0) as filler, suppress(OSError):
        while True:
            filler.write(b"0" * 4096)
    filled = (small_disk / "filler").stat().st_size
    with (small_disk / "filler").open("r+b") as filler:
        filler.truncate(filled - room)
    said = stopped(command("grade", root))
    assert "the disk is full" in said
    assert "run the same command again" in said
    assert "Traceback" not in said
    (small_disk / "filler").unlink()
    finish(command("grade", root))
    assert ends(root) == ends(whole)

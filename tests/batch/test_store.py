from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autograder.batch.store import Store, content_key, for_student, tree_digest
from autograder.grading.graded import Graded
from autograder.results import ExerciseResult, GradeReport, Outcome

REPORT = GradeReport(
    "ada", "ps1", "convolution", 2.0, 6.0, 0.0, (), ("seccomp",), 1.0,
    (ExerciseResult("add_checks", 2.0, 2.0, Outcome.PASSED),),
)  # fmt: skip
NOTEBOOK: dict[str, Any] = {"cells": [], "metadata": {"deepdrills": {"report": {}}}, "nbformat": 4}
GRADED = Graded(REPORT, NOTEBOOK, ("a warning",))
KEY = content_key("something")


def test_what_was_put_is_got(tmp_path: Path) -> None:
    store = Store(tmp_path / "results")
    assert store.get(KEY) is None
    store.put(KEY, GRADED)
    assert store.get(KEY) == GRADED
    assert store.get(content_key("other")) is None


def test_the_last_one_put_is_got(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(KEY, GRADED)
    store.put(KEY, Graded(REPORT, NOTEBOOK))
    assert store.get(KEY) == Graded(REPORT, NOTEBOOK)
    assert len([one for one in tmp_path.rglob("*") if one.is_file()]) == 1


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"\xff\xfe", b"null", b"[]", b"3", b"{}", b'{"report": {}, "notebook": {}, "trouble": []}',
        b'{"report": 3, "notebook": {}, "trouble": []}',
    ],
)  # fmt: skip
def test_a_spoiled_file_is_a_result_not_yet_made(tmp_path: Path, data: bytes) -> None:
    store = Store(tmp_path)
    store.put(KEY, GRADED)
    (path,) = (one for one in tmp_path.rglob("*") if one.is_file())
    path.write_bytes(data)
    assert store.get(KEY) is None
    store.put(KEY, GRADED)
    assert store.get(KEY) == GRADED


def test_a_file_cut_anywhere_is_a_result_not_yet_made(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(KEY, GRADED)
    (path,) = (one for one in tmp_path.rglob("*") if one.is_file())
    whole = path.read_bytes()
    for length in range(0, len(whole), 17):
        path.write_bytes(whole[:length])
        assert store.get(KEY) is None


def test_a_write_that_fails_leaves_the_older_result_and_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    store.put(KEY, GRADED)

    def full(data: Any) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(json, "dumps", full)
    with pytest.raises(OSError, match="No space"):
        store.put(KEY, Graded(REPORT, NOTEBOOK))
    assert store.get(KEY) == GRADED
    assert len([one for one in tmp_path.rglob("*") if one.is_file()]) == 1


def test_a_process_killed_while_it_writes_leaves_nothing_readable(tmp_path: Path) -> None:
    code = (
        "import json, os, signal, sys\n"
        "from pathlib import Path\n"
        "from autograder.batch import store\n"
        "from autograder.grading.graded import Graded\n"
        "from autograder.results import GradeReport\n"
        "whole = json.dumps\n"
        "def half(data):\n"
        "    if 'report' in data:\n"
        "        return whole(data)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "store.json.dumps = half\n"
        "report = GradeReport('a', 'b', 'c', 1, 1, 0, (), (), 0)\n"
        f"store.Store(Path({str(tmp_path)!r})).put({KEY!r}, Graded(report, {{}}))\n"
    )
    run = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert run.returncode == -9, run.stderr
    assert Store(tmp_path).get(KEY) is None
    Store(tmp_path).put(KEY, GRADED)
    assert Store(tmp_path).get(KEY) == GRADED


def test_a_folder_that_is_a_file_is_not_hidden(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("")
    with pytest.raises(OSError, match="results"):
        Store(tmp_path / "results").put(KEY, GRADED)
    assert Store(tmp_path / "results").get(KEY) is None


def test_a_key_depends_on_every_part_and_on_where_parts_end() -> None:
    keys = [content_key(*parts) for parts in ([], ["a"], ["a", "b"], ["ab"], ["b", "a"], ["a", "b", ""])]
    assert len(set(keys)) == len(keys)
    assert content_key("a", "b") == content_key("a", "b")


def test_the_digest_of_code_changes_with_code_and_data_and_with_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "code.py").write_text("x = 1")
    digests = [tree_digest(tmp_path)]
    for name, text in (("deep/code.py", "x = 2"), ("data.toml", "a = 1"), ("other.py", "")):
        (tmp_path / name).write_text(text)
        digests.append(tree_digest(tmp_path))
    os.rename(tmp_path / "other.py", tmp_path / "renamed.py")
    digests.append(tree_digest(tmp_path))
    assert len(set(digests)) == len(digests)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "code.py").write_text("")
    (tmp_path / "notes.txt").write_text("")
    assert tree_digest(tmp_path) == digests[-1]


def test_a_result_is_anothers_with_the_same_content(tmp_path: Path) -> None:
    theirs = for_student(GRADED, "bao", 3600.0)
    assert (theirs.report.student, theirs.report.late_seconds) == ("bao", 3600.0)
    assert theirs.notebook["metadata"]["deepdrills"]["report"] == theirs.report.to_json()
    assert theirs.report.exercises == REPORT.exercises
    assert GRADED.report.student == "ada"
    assert GRADED.notebook["metadata"]["deepdrills"]["report"] == {}
    json.dumps(theirs.to_json())

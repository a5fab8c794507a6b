from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest

from autograder.batch.staging import stage, staged_key, staged_root

NOTEBOOK = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'


def submitted(root: Path, student: str = "ada", **files: bytes) -> Path:
    folder = root / "submitted" / student / "ps1"
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name.replace("__", ".")).write_bytes(data)
    return folder


def staged(root: Path, student: str = "ada") -> Path:
    return staged_root(root) / "submitted" / student / "ps1"


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def test_regular_files_are_copied_under_the_notebooks_right_name(tmp_path: Path) -> None:
    folder = submitted(tmp_path, final__ipynb=NOTEBOOK, data__csv=b"1")
    (folder / "timestamp.txt").write_text("2026-10-05 12:00:00 UTC\n")
    (folder / "link.csv").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe")
    stage(tmp_path, "ada", "ps1", "toy", folder, "the key")
    assert tree(staged(tmp_path)) == {
        "toy.ipynb": NOTEBOOK,
        "data.csv": b"1",
        "timestamp.txt": b"2026-10-05 12:00:00 UTC",
    }


def test_a_folder_called_like_the_notebook_is_in_nobodys_way(tmp_path: Path) -> None:
    folder = submitted(tmp_path, other__ipynb=NOTEBOOK)
    (folder / "toy.ipynb").mkdir()
    (folder / "toy.ipynb" / "data.csv").write_bytes(b"1")
    (folder / "timestamp.txt").mkdir()
    (folder / "timestamp.txt" / "x").write_bytes(b"1")
    stage(tmp_path, "ada", "ps1", "toy", folder, "k")
    assert tree(staged(tmp_path)) == {"toy.ipynb": NOTEBOOK}


def test_what_is_in_the_way_of_the_courses_files_is_left_out(tmp_path: Path) -> None:
    source = tmp_path / "source" / "ps1"
    (source / "more").mkdir(parents=True)
    (source / "data.csv").write_bytes(b"the course's")
    (source / "more" / "points.csv").write_bytes(b"the course's")
    folder = submitted(tmp_path, toy__ipynb=NOTEBOOK, more=b"a file", own__py=b"1")
    (folder / "data.csv").mkdir()
    (folder / "data.csv" / "x").write_bytes(b"1")
    stage(tmp_path, "ada", "ps1", "toy", folder, "k")
    assert tree(staged(tmp_path)) == {"toy.ipynb": NOTEBOOK, "own.py": b"1"}


def test_no_link_in_the_clean_tree_is_written_through(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    target = staged(tmp_path)
    target.parent.mkdir(parents=True)
    target.symlink_to(elsewhere)
    with pytest.raises(OSError, match="exists"):
        stage(tmp_path, "ada", "ps1", "toy", submitted(tmp_path, toy__ipynb=NOTEBOOK), "k")
    assert list(elsewhere.iterdir()) == []


def test_a_submission_without_a_notebook_has_an_empty_one(tmp_path: Path) -> None:
    stage(tmp_path, "ada", "ps1", "toy", submitted(tmp_path), "k")
    nbformat.validate(nbformat.read(staged(tmp_path) / "toy.ipynb", as_version=4))


def test_a_malformed_time_is_left_out(tmp_path: Path) -> None:
    folder = submitted(tmp_path, toy__ipynb=NOTEBOOK, timestamp__txt=b"whenever")
    stage(tmp_path, "ada", "ps1", "toy", folder, "k")
    assert list(tree(staged(tmp_path))) == ["toy.ipynb"]


def test_nothing_of_an_older_submission_stays(tmp_path: Path) -> None:
    folder = submitted(tmp_path, toy__ipynb=NOTEBOOK, old__csv=b"1")
    stage(tmp_path, "ada", "ps1", "toy", folder, "first")
    (folder / "old.csv").unlink()
    stage(tmp_path, "ada", "ps1", "toy", folder, "second")
    assert list(tree(staged(tmp_path))) == ["toy.ipynb"]
    assert staged_key(tmp_path, "ada", "ps1", staged(tmp_path)) == "second"


def test_the_key_is_for_the_staged_folder_alone(tmp_path: Path) -> None:
    folder = submitted(tmp_path, toy__ipynb=NOTEBOOK)
    stage(tmp_path, "ada", "ps1", "toy", folder, "k")
    assert staged_key(tmp_path, "ada", "ps1", staged(tmp_path)) == "k"
    assert staged_key(tmp_path, "ada", "ps1", folder) is None
    assert staged_key(tmp_path, "bao", "ps1", staged(tmp_path, "bao")) is None
    assert list(tree(staged(tmp_path))) == ["toy.ipynb"], "no key lies where nbgrader copies files"

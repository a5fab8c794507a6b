from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.batch.tree import Taken, WrongName, apart, plain_path, write_tree, wrong_name


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("a.csv", "a.csv"),
        ("./a.csv", "a.csv"),
        ("ada//tmp/x", "ada/tmp/x"),
        ("a/./b//c", "a/b/c"),
        ("...", "..."),
        (".", ""),
        ("", ""),
    ],
)
def test_a_path_without_parts_that_say_nothing(path: str, plain: str) -> None:
    assert plain_path(path) == plain


@pytest.mark.parametrize(
    "path", ["", ".", "./", "./.", "/", "//", "/x", "..", "a/../b", "C:/x", "C:", "a\0b"]
)
def test_a_path_that_names_no_file_of_the_folder_is_wrong(path: str) -> None:
    assert wrong_name(path)


def test_a_name_may_fill_what_disks_hold_and_no_more() -> None:
    assert wrong_name("é" * 125) == ""
    assert wrong_name("é" * 126) == "its name is too long"
    assert wrong_name("/".join(["d" * 200] * 5)) == "its name is too long"
    assert wrong_name("latin-\udce9") == "its name holds characters that do not show"


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        ("a", "b", True),
        ("a", "ab", True),
        ("a/b", "a/c", True),
        ("a", "a", False),
        ("a", "A", False),
        ("a", "a/b", False),
        ("a/b", "a", False),
        ("a/b", "A/b/c", False),
        ("e\u0301.csv", "\u00e9.csv", False),
        ("stra\u00dfe", "STRASSE", False),
    ],
)
def test_which_files_can_lie_in_one_folder(first: str, second: str, together: bool) -> None:
    assert Taken([first]).take(second) is together


def test_what_is_refused_takes_no_place() -> None:
    taken = Taken(["a"])
    assert not taken.take("a/b/c")
    assert taken.take("b/c")
    assert not taken.take("b")


def test_a_students_files_in_the_way_of_the_courses_own_are_left_out() -> None:
    files = {"data.csv/x": b"", "points": b"", "more/a.csv": b"", "data.csv2": b"", "own.py": b""}
    kept, left = apart(files, ["data.csv", "points/all.csv", "own.py"])
    assert left == ["data.csv/x", "points"]
    assert list(kept) == ["more/a.csv", "data.csv2", "own.py"]


def test_a_tree_is_written(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a": b"1", "b/c/d": b"2", "b/e": b"3"})
    assert (tmp_path / "b" / "c" / "d").read_bytes() == b"2"
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()) == [
        "a",
        "b/c/d",
        "b/e",
    ]


@pytest.mark.parametrize("name", ["../x", "/tmp/x", "a//tmp/x", "a/../../x", ".", "", "a/", "a\0", "./x"])
def test_a_name_that_leads_out_is_never_written(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    with pytest.raises(WrongName):
        write_tree(folder, {name: b"evil"})
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_no_link_is_followed(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "in", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (folder / "out").symlink_to(elsewhere)
    (folder / "inside").symlink_to(folder)
    (folder / "file").symlink_to(folder / "made")
    with pytest.raises(WrongName):
        write_tree(folder, {"out/x": b"evil"})
    for name in ("inside/x", "file"):
        with pytest.raises(OSError):
            write_tree(folder, {name: b"evil"})
    assert os.listdir(elsewhere) == []
    assert sorted(os.listdir(folder)) == ["file", "inside", "out"]


def test_nothing_is_replaced(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        write_tree(tmp_path, {"a": b"1", "a/b": b"2"})
    with pytest.raises(FileExistsError):
        write_tree(tmp_path, {"a": b"3"})
    assert (tmp_path / "a").read_bytes() == b"1"

from __future__ import annotations

import os
import socket
import stat
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nbgrader.utils import parse_utc

from autograder.batch import folder as module
from autograder.batch.folder import Handed, read_file, read_folder, read_timestamp

NOTEBOOK = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'


def handed(folder: Path) -> Handed:
    return read_folder(folder, "convolution")


def put(folder: Path, name: str, data: bytes = NOTEBOOK) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_the_notebook_and_the_files_beside_it(tmp_path: Path) -> None:
    put(tmp_path, "convolution.ipynb")
    put(tmp_path, "helper.py", b"x = 1")
    put(tmp_path, "data/deep/values.csv", b"1,2")
    assert handed(tmp_path) == Handed(NOTEBOOK, {"helper.py": b"x = 1", "data/deep/values.csv": b"1,2"}, ())


@pytest.mark.parametrize(
    "name",
    [
        ".ipynb_checkpoints/convolution.ipynb", "data/.ipynb_checkpoints/a.ipynb", "__pycache__/a.pyc",
        ".git/HEAD", ".DS_Store", "timestamp.txt", "feedback/convolution.html",
    ],
)  # fmt: skip
def test_what_programs_leave_behind_is_no_part_of_a_submission(tmp_path: Path, name: str) -> None:
    put(tmp_path, "convolution.ipynb")
    put(tmp_path, name, b'{"cells": ["other"]}')
    assert handed(tmp_path) == Handed(NOTEBOOK, {}, ())


@pytest.mark.parametrize(
    "name",
    [
        "Convolution.ipynb", "convolution (1).ipynb", "convolution-ada.ipynb", "final.ipynb",
        "CONVOLUTION.IPYNB",
        "work/convolution.ipynb", "Übung [2].ipynb",
    ],
)  # fmt: skip
def test_a_single_notebook_of_another_name_is_taken_and_said(tmp_path: Path, name: str) -> None:
    put(tmp_path, name)
    put(tmp_path, "helper.py", b"x")
    found = handed(tmp_path)
    assert found.notebook == NOTEBOOK
    assert found.notes == (f"The notebook was called '{name}'; it was taken for 'convolution.ipynb'.",)
    assert found.files == {"helper.py": b"x"}


@pytest.mark.parametrize("name", ["convolution.ipynb.txt", "convolution.json", "convolution"])
def test_a_notebook_with_another_extension_is_recognised(tmp_path: Path, name: str) -> None:
    put(tmp_path, name, b"\xef\xbb\xbf\n" + NOTEBOOK)
    found = handed(tmp_path)
    assert found.notebook is not None
    assert found.notebook.endswith(NOTEBOOK)
    assert found.notes == (f"The file '{name}' holds a notebook; it was taken for 'convolution.ipynb'.",)
    assert found.files == {}


def test_a_file_that_only_looks_like_one_is_left_where_it_is(tmp_path: Path) -> None:
    put(tmp_path, "data.json", b'{"cells": 3}')
    note = "No notebook was found, but only 'data.json'."
    assert handed(tmp_path) == Handed(None, {"data.json": b'{"cells": 3}'}, (note,))


def test_of_several_notebooks_the_one_of_the_right_name_is_graded(tmp_path: Path) -> None:
    put(tmp_path, "convolution.ipynb")
    put(tmp_path, "draft.ipynb", b"draft")
    put(tmp_path, "old/convolution.ipynb", b"old")
    found = handed(tmp_path)
    assert found.notebook == NOTEBOOK
    assert found.files == {}, "a notebook is never given to another one as a file"
    assert found.notes == (
        "Other notebooks were handed in too and not graded: 'draft.ipynb', 'old/convolution.ipynb'.",
    )


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["a.ipynb", "convolution (1).ipynb"], "convolution (1).ipynb"),
        (["convolution_v2.ipynb", "convolution_v10.ipynb"], "convolution_v2.ipynb"),
        (["b.ipynb", "a.ipynb"], "a.ipynb"),
        (["deep/a.ipynb", "zz.ipynb"], "zz.ipynb"),
    ],
)
def test_of_several_others_the_likeliest_is_graded_and_said(
    tmp_path: Path, names: list[str], chosen: str
) -> None:
    for name in names:
        put(tmp_path, name, name.encode())
    found = handed(tmp_path)
    assert found.notebook == chosen.encode()
    assert found.notes == (f"Several notebooks were handed in; '{chosen}' was graded.",)


def test_of_many_notebooks_only_what_may_be_graded_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_NOTEBOOKS_BYTES", 100)
    for number in range(20):
        (tmp_path / f"a{number:02}.ipynb").write_bytes(b"x" * 40)
    found = read_folder(tmp_path, "hw")
    assert len(found.notebook or b"") == 40
    assert sum("a0" in note and "too large" in note for note in found.notes) == 8
    (tmp_path / "hw.ipynb").write_bytes(b"y" * 90)
    read: list[str] = []
    whole = module._read

    def noting(path: Path | str, limit: int) -> bytes | None:
        read.append(Path(path).name)
        return whole(path, limit)

    monkeypatch.setattr(module, "_read", noting)
    found = read_folder(tmp_path, "hw")
    assert found.notebook == b"y" * 90
    assert read == ["hw.ipynb"]
    assert "'a19.ipynb'" in found.notes[0]


def test_an_empty_folder(tmp_path: Path) -> None:
    assert handed(tmp_path) == Handed(None, {}, ())


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    found = handed(tmp_path / "gone")
    assert found.notebook is None
    assert found.notes == ("The folder 'gone' could not be opened (No such file or directory).",)


# ---- what must not be opened ----


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    secret = put(tmp_path / "elsewhere", "convolution.ipynb", b"another's answers")
    folder = tmp_path / "handed"
    folder.mkdir()
    (folder / "convolution.ipynb").symlink_to(secret)
    (folder / "data").symlink_to(secret.parent, target_is_directory=True)
    (folder / "nowhere").symlink_to("/nowhere")
    found = handed(folder)
    assert found == Handed(
        None,
        {},
        tuple(
            f"'{name}' is a link; it was not followed and was left out."
            for name in ("convolution.ipynb", "data", "nowhere")
        ),
    )


def test_a_folder_that_is_itself_a_link_is_not_followed(tmp_path: Path) -> None:
    put(tmp_path / "ada" / "ps1", "convolution.ipynb", b"another's answers")
    (tmp_path / "eve").mkdir()
    (tmp_path / "eve" / "ps1").symlink_to(tmp_path / "ada" / "ps1", target_is_directory=True)
    assert handed(tmp_path / "eve" / "ps1") == Handed(
        None, {}, ("The folder 'ps1' is a link; it was not followed.",)
    )


def test_pipes_sockets_and_devices_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "convolution.ipynb")
    server = socket.socket(socket.AF_UNIX)
    try:
        server.bind(str(tmp_path / "sock"))
        found = handed(tmp_path)
    finally:
        server.close()
    assert found.notebook is None
    assert found.notes == (
        "'convolution.ipynb' is a special file; it was not followed and was left out.",
        "'sock' is a special file; it was not followed and was left out.",
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes device files")
def test_a_device_is_not_opened(tmp_path: Path) -> None:
    try:
        os.mknod(tmp_path / "zero.ipynb", 0o666 | stat.S_IFCHR, os.makedev(1, 5))
    except OSError:
        pytest.skip("device files can not be made here")
    assert handed(tmp_path).notes == (
        "'zero.ipynb' is a special file; it was not followed and was left out.",
    )


def test_a_file_that_becomes_something_else_meanwhile_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = put(tmp_path / "elsewhere", "secret", b"secret")
    path = put(tmp_path / "handed", "convolution.ipynb")
    real = module._regular_files

    def swap(folder: Path, notes: list[str]) -> list[tuple[str, str]]:
        found = real(folder, notes)
        path.unlink()
        path.symlink_to(secret)
        return found

    monkeypatch.setattr(module, "_regular_files", swap)
    found = handed(path.parent)
    assert found.notebook is None
    assert found.notes == (
        "The file 'convolution.ipynb' could not be read or is too large; it was left out.",
    )


def test_a_file_that_can_not_be_opened_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "convolution.ipynb")
    put(tmp_path, "data.csv", b"1")
    real = os.open

    def refuse(path: str, flags: int, *rest: int) -> int:
        if str(path).endswith("data.csv"):
            raise PermissionError(13, "Permission denied")
        return real(path, flags, *rest)

    monkeypatch.setattr(os, "open", refuse)
    found = handed(tmp_path)
    assert found.notebook == NOTEBOOK
    assert found.notes == ("The file 'data.csv' could not be read or is too large; it was left out.",)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open everything")
def test_a_folder_without_permission_is_said(tmp_path: Path) -> None:
    put(tmp_path, "convolution.ipynb")
    put(tmp_path, "shut/data.csv", b"1")
    (tmp_path / "shut").chmod(0)
    try:
        found = handed(tmp_path)
    finally:
        (tmp_path / "shut").chmod(0o700)
    assert found.notebook == NOTEBOOK
    assert "could not be opened" in found.notes[0]


# ---- how much ----


def test_a_huge_file_is_left_out_and_the_notebook_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BYTES", 1000)
    put(tmp_path, "convolution.ipynb")
    put(tmp_path, "big.bin", b"x" * 1001)
    put(tmp_path, "one.bin", b"x" * 600)
    put(tmp_path, "two.bin", b"x" * 600)
    found = handed(tmp_path)
    assert found.notebook == NOTEBOOK
    assert list(found.files) == ["one.bin"], "all files together keep to the limit"
    assert found.notes == (
        "The file 'big.bin' could not be read or is too large; it was left out.",
        "The file 'two.bin' could not be read or is too large; it was left out.",
    )


def test_a_huge_notebook_is_left_out(tmp_path: Path) -> None:
    path = put(tmp_path, "convolution.ipynb")
    os.truncate(path, (128 << 20) + 1)
    found = handed(tmp_path)
    assert found.notebook is None
    assert "too large" in found.notes[0]


def test_too_many_files_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FILES", 5)
    for number in range(9):
        put(tmp_path, f"f{number}", b"")
    found = handed(tmp_path)
    assert len(found.files) == 5
    assert found.notes[0] == "More than 5 files were handed in; the rest was left out."


def test_no_number_of_files_before_it_costs_the_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FILES", 5)
    for number in range(9):
        put(tmp_path, f"a{number}", b"")
        put(tmp_path, f"a{number}.ipynb", b"another")
    put(tmp_path, "convolution.ipynb")
    found = handed(tmp_path)
    assert found.notebook == NOTEBOOK
    assert found.notes[0] == "More than 5 files were handed in; the rest was left out."


def test_what_lies_where_a_students_folder_should_be_is_said(tmp_path: Path) -> None:
    root = tmp_path / "submitted"
    assert module.passed_over(root, "ps1") == []
    put(root, "ada/ps1/convolution.ipynb")
    put(root, "bao.ipynb")
    put(root, ".gitkeep", b"")
    put(root, "cyd/ps1", b"a file")
    put(root, "eve/ps2/convolution.ipynb")
    (root / "dan").symlink_to(root / "ada")
    (root / "fay").mkdir()
    (root / "fay" / "ps1").symlink_to("nowhere")
    (root / "x\x1b").symlink_to("nowhere")
    assert module.passed_over(root, "ps1") == [
        "submitted/bao.ipynb is no folder. Put work in submitted/<student>/ps1/.",
        "submitted/cyd/ps1 is no folder. Put the student's notebook into a folder there.",
        "submitted/dan is a link; it was not followed. Put the student's own folder there.",
        "submitted/fay/ps1 is a link to nothing. Put the student's own folder there.",
        "submitted/x? is a link; it was not followed. Put the student's own folder there.",
    ]


def test_folders_are_not_entered_without_end(tmp_path: Path) -> None:
    put(tmp_path, "/".join(["d"] * 30) + "/f", b"x")
    assert handed(tmp_path).files == {}


# ---- names ----


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("two\nlines.csv", "two?lines.csv"),
        ("bell\x07.csv", "bell?.csv"),
        ("colour\x1b[31m.csv", "colour?[31m.csv"),
        ("turned\u202etxt.csv", "turned?txt.csv"),
        ("odd\nfolder/data.csv", "odd?folder/data.csv"),
        (os.fsdecode(b"latin-\xe9.csv"), "latin-?.csv"),
    ],
)
def test_a_name_that_can_not_be_printed_is_left_out_and_said_harmlessly(
    tmp_path: Path, name: str, said: str
) -> None:
    put(tmp_path, "convolution.ipynb")
    put(tmp_path, name, b"1")
    assert handed(tmp_path) == Handed(
        NOTEBOOK, {}, (f"The file '{said}' has a name that is not allowed; it was left out.",)
    )


@pytest.mark.parametrize(
    "name", ["..data", "a..b", "...", "[brackets].csv", "*.csv", "~", "-rf", "C:\\x", "été.csv"]
)
def test_a_name_that_is_only_odd_is_kept(tmp_path: Path, name: str) -> None:
    put(tmp_path, "convolution.ipynb")
    put(tmp_path, name, b"1")
    assert handed(tmp_path) == Handed(NOTEBOOK, {name: b"1"}, ())


def test_a_name_beyond_what_disks_hold_in_all_is_left_out(tmp_path: Path) -> None:
    put(tmp_path, f"{'d' * 100}/{'f' * 100}", b"1")
    assert "not allowed" in handed(tmp_path).notes[0]
    assert len(handed(tmp_path).notes[0]) < 250


# ---- one file, and the time ----


def test_one_file_anywhere(tmp_path: Path) -> None:
    assert read_file(put(tmp_path, "any.name")) == Handed(NOTEBOOK)
    assert read_file(tmp_path / "gone") == Handed(None, notes=("The file could not be read.",))
    os.mkfifo(tmp_path / "pipe")
    assert read_file(tmp_path / "pipe").notebook is None
    assert read_file(tmp_path).notebook is None


@pytest.mark.parametrize(
    "text",
    [
        "2026-10-05 12:00:00 UTC", "2026-10-05 12:00:00 UTC\n", "2026-10-05 12:00:00",
        "2026-10-05T12:00:00+02:00",
        "2026-10-05 12:00:00.123456 UTC", "2026-10-05 12:00:00 Europe/Paris", "2026-10-05 12:00:00 XYZ",
    ],
)  # fmt: skip
def test_a_time_that_nbgrader_reads_is_kept_as_written(tmp_path: Path, text: str) -> None:
    put(tmp_path, "timestamp.txt", text.encode())
    assert read_timestamp(tmp_path) == text.strip()


@pytest.mark.parametrize(
    "data",
    [
        b"", b"yesterday", b"2026-13-45 99:00", b"\xff\xfe\x00", b"\x00", b"2026-10-05 12:00:00 99999999999",
        b"99999999999999999999", b"2026-10-05 12:00:00 UTC" + b" " * 200, b"{}", b"0000-00-00 00:00:00 UTC",
    ],
)  # fmt: skip
def test_what_is_no_time_is_none(tmp_path: Path, data: bytes) -> None:
    put(tmp_path, "timestamp.txt", data)
    assert read_timestamp(tmp_path) is None


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        (None, None),
        ("2026-10-05 12:00:00 UTC", None),
        ("2026-10-07 11:00:00 UTC", None),
        ("2099-01-01 00:00:00 UTC", "says 2099-01-01 00:00:00 UTC, which is still to come"),
        ("yesterday", "holds no time that can be read"),
        ("", "holds no time that can be read"),
    ],
)
def test_an_odd_time_is_said(tmp_path: Path, text: str | None, remark: str | None) -> None:
    if text is not None:
        put(tmp_path, "timestamp.txt", text.encode())
    said = module.timestamp_remark(tmp_path, datetime(2026, 10, 6, 12))
    assert (said is None) if remark is None else (said is not None and remark in said)


def test_a_time_is_not_read_through_a_link_or_a_pipe(tmp_path: Path) -> None:
    assert read_timestamp(tmp_path) is None
    put(tmp_path, "time", b"2026-10-05 12:00:00 UTC")
    (tmp_path / "timestamp.txt").symlink_to(tmp_path / "time")
    assert read_timestamp(tmp_path) is None
    (tmp_path / "timestamp.txt").unlink()
    os.mkfifo(tmp_path / "timestamp.txt")
    assert read_timestamp(tmp_path) is None


@settings(deadline=None)
@given(st.text(alphabet="0123456789-:. TZUC+eE/,", max_size=30))
@example("2026-10-05 12:00:00 -9")
@example("1-1-1 0:0 +99")
@pytest.mark.filterwarnings("ignore")
def test_a_time_is_one_exactly_when_nbgrader_reads_it(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    folder = tmp_path_factory.getbasetemp() / "times"
    put(folder, "timestamp.txt", text.encode())
    try:
        parse_utc(text.strip())
    except Exception:
        assert read_timestamp(folder) is None
    else:
        assert read_timestamp(folder) == text.strip()

"""Archives as nobody should make them: each costs its own student alone, and writes nothing outside."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from autograder.collect import files, sorting

from .conftest import ASSIGNMENT, Collect, submitted
from .downloads import make_zip, notebook
from .odd_zips import INNER, packed


@pytest.mark.parametrize("case", INNER)
def test_a_students_own_zip_costs_that_student_alone(
    case: str,
    course: Path,
    collect: Collect,
    tmp_path: Path,
) -> None:
    make, words, kept = INNER[case]
    outer = {
        "ps0_ada_attempt_2026-10-05-15-30-10_work.zip": make(),
        "ps0_bao_attempt_2026-10-05-15-30-10_toy.ipynb": notebook("return 1"),
    }
    before = {path for path in tmp_path.parent.rglob("*") if path.is_file()}
    record = collect(make_zip(tmp_path / "all.zip", outer))
    there = submitted(course)
    assert there[f"bao/{ASSIGNMENT}/toy.ipynb"] == notebook("return 1")
    ada = {name.partition("/")[2].partition("/")[2] for name in there if name.startswith("ada/")}
    assert ada == ({*kept, "timestamp.txt"} if kept else set())
    said = [line["words"] for line in record["files"] if line["student"] == "ada"]
    assert any(words in one for one in said), said
    assert record["code"] == (0 if kept and not words else 1) or "of this name" in words
    made = {path for path in tmp_path.parent.rglob("*") if path.is_file()} - before - {tmp_path / "all.zip"}
    assert {path.relative_to(course).parts[0] for path in made} == {"submitted"}, made
    assert not (course / ".deepdrills" / "collecting").exists() or not os.listdir(
        course / ".deepdrills" / "collecting"
    )


@pytest.mark.parametrize(
    ("pattern", "own", "name"),
    [
        ("student", "ada/toy.ipynb", "ada/{}"),
        ("student", "ada/toy.ipynb", "ada//{}"),
        ("student", "ada/toy.ipynb", "ada/x/{}"),
        ("moodle", "Ada_1_assignsubmission_file_/toy.ipynb", "Ada_1_assignsubmission_file_/{}"),
        ("moodle", "Ada_1_assignsubmission_file_/toy.ipynb", "Ada_1_assignsubmission_file_{}"),
        ("moodle", "Ada_1_assignsubmission_file_/toy.ipynb", "Ada_1_assignsubmission_file_../evil.txt"),
        ("moodle", "Ada_1_assignsubmission_file_/toy.ipynb", "Ada_1_assignsubmission_file_../../evil.txt"),
        ("moodle", "Ada_1_assignsubmission_file_/toy.ipynb", "Ada_1_assignsubmission_file_.."),
        ("moodle", "Ada_1_assignsubmission_file_/toy.ipynb", "Ada_1_assignsubmission_file_C:\\evil.txt"),
        ("canvas", "adal_1_2_toy.ipynb", "adal_1_3_.."),
        (
            "blackboard",
            "ps0_ada_attempt_2026-10-05-15-30-10_toy.ipynb",
            "ps0_ada_attempt_2026-10-05-15-30-10_..",
        ),
        ("course", "ada--toy.ipynb", "ada--../evil.txt"),
        ("course", "ada--toy.ipynb", "ada--/tmp/evil.txt"),
    ],
)
def test_a_name_that_is_worse_without_the_platforms_part_writes_nothing_outside(
    pattern: str,
    own: str,
    name: str,
    course: Path,
    collect: Collect,
    tmp_path: Path,
) -> None:
    settings = course / "nbgrader_config.py"
    regexp = r"(?P<student_id>\w+)--(?P<file_id>.*)"
    settings.write_text(f"{settings.read_text()}\nc.FileNameCollectorPlugin.named_regexp = r'{regexp}'\n")
    outside = tmp_path / "outside" / "evil.txt"
    outside.parent.mkdir()
    (tmp_path / "all.zip").write_bytes(packed((own, notebook()), (name.format(outside), b"evil")))
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    record = collect(tmp_path / "all.zip", "--pattern", pattern)
    made = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    assert {path.relative_to(course).parts[0] for path in made} == {"submitted"}, made
    assert record["deeds"][own] == "collected"
    assert len({path.relative_to(course).parts[1] for path in made}) == 1
    assert len(record["deeds"]) == 2, "each file has its line"


def test_all_that_one_student_hands_in_has_a_limit(
    course: Path,
    collect: Collect,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sorting, "_STUDENT_LIMIT", 3 << 20)
    big = packed(("big.bin", bytes(1 << 20)))
    zips = {f"ada/{number}.zip": big for number in range(5)}
    record = collect(
        make_zip(tmp_path / "a.zip", {**zips, "ada/toy.ipynb": notebook(), "bao/toy.ipynb": b""})
    )
    assert [line["deed"] for line in record["files"] if "big.bin" in line["file"]].count("kept beside") == 1
    refused = [line["words"] for line in record["files"] if line["deed"] == "refused"]
    assert set(refused) == {"the student's files come to more than 3 MiB"}
    assert f"ada/{ASSIGNMENT}/toy.ipynb" in submitted(course)
    assert f"bao/{ASSIGNMENT}/toy.ipynb" in submitted(course)


def test_a_zip_that_lists_too_many_files_is_not_opened(
    course: Path,
    collect: Collect,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(files, "_INNER_ENTRIES", 10)
    inner = packed(*((str(number), b"") for number in range(11)))
    record = collect(make_zip(tmp_path / "a.zip", {"ada.zip": inner, "bao/toy.ipynb": notebook()}))
    assert record["words"]["ada.zip"] == "the zip lists more than 10 files"
    assert list(submitted(course)) == [f"bao/{ASSIGNMENT}/toy.ipynb"]


def test_an_error_of_ours_with_one_student_is_nobody_elses(
    course: Path,
    collect: Collect,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = sorting.Sorter.work

    def fails(self: Any, student: str, pieces: Any) -> Any:
        if student == "ada":
            raise KeyError("what nobody thought of")
        return real(self, student, pieces)

    monkeypatch.setattr(sorting.Sorter, "work", fails)
    record = collect(make_zip(tmp_path / "a.zip", {"ada.ipynb": notebook(), "bao.ipynb": notebook()}))
    assert (record["code"], record["deeds"]) == (1, {"ada.ipynb": "refused", "bao.ipynb": "collected"})
    assert "our own error" in record["words"]["ada.ipynb"]


def test_times_that_no_calendar_has_are_no_times(
    course: Path,
    collect: Collect,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("ada", "bao"):
        (folder / f"{name}.ipynb").write_bytes(notebook())
    real = files._changed
    monkeypatch.setattr(files, "_changed", lambda seconds: real(1e18))
    assert collect(folder, "--times", "yes")["counts"] == {"collected": 2}
    first = "ps0_cyd_attempt_0001-01-01-00-00-00_toy.ipynb"
    record = collect(make_zip(tmp_path / "b.zip", {first: notebook()}), "--timezone", "Europe/Berlin")
    assert record["deeds"] == {first: "collected"}
    assert not [name for name in submitted(course) if "timestamp" in name]


def test_what_lies_in_the_way_in_submitted_costs_that_student_alone(
    course: Path,
    collect: Collect,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (course / "submitted").mkdir()
    (course / "submitted" / "ada").write_text("a file")
    real = os.rename

    def refuse(source: Path, target: Path) -> None:
        if "bao" in str(target):
            raise PermissionError(13, "Permission denied")
        real(source, target)

    monkeypatch.setattr(os, "rename", refuse)
    names = ("ada", "bao", "cyd")
    record = collect(make_zip(tmp_path / "a.zip", {f"{name}.ipynb": notebook() for name in names}))
    assert record["deeds"] == {"ada.ipynb": "refused", "bao.ipynb": "refused", "cyd.ipynb": "collected"}
    assert record["words"]["ada.ipynb"].startswith("submitted/ada is no folder; move it away")
    assert record["words"]["bao.ipynb"].startswith(
        f"submitted/bao/{ASSIGNMENT} could not be written (Permission denied); mend that, then run this again"
    )


@pytest.mark.parametrize(
    "name", ["..", ".", "a/b", "hx-[a-z]*", "a\nb", "\udce9", " ", "-rf", "C:", "x" * 200]
)
def test_a_roster_gives_nobody_an_id_that_is_no_folder_of_its_own(
    name: str,
    course: Path,
    collect: Collect,
    tmp_path: Path,
) -> None:
    roster = tmp_path / "people.csv"
    text = f'Full name,student_id\nAda L,"{name}"\nBao N,bao\n'
    roster.write_bytes(text.encode("utf-8", "replace"))
    entries = {
        f"{who}_{n}_assignsubmission_file_/toy.ipynb": notebook() for n, who in enumerate(("Ada L", "Bao N"))
    }
    record = collect(make_zip(tmp_path / "a.zip", entries), "--roster", str(roster))
    assert (record["code"], list(submitted(course))) == (1, [f"bao/{ASSIGNMENT}/toy.ipynb"])


def test_an_accent_is_the_same_however_it_is_written(
    course: Path,
    collect: Collect,
    tmp_path: Path,
) -> None:
    record = collect(make_zip(tmp_path / "a.zip", {"e\u0301mile/toy.ipynb": notebook()}))
    assert (record["code"], list(submitted(course))) == (0, [f"\u00e9mile/{ASSIGNMENT}/toy.ipynb"])
    both = {"e\u0301mile/toy.ipynb": notebook("return 1"), "\u00e9mile/toy.ipynb": notebook("return 2")}
    record = collect(make_zip(tmp_path / "b.zip", both), "--update")
    assert record["counts"] == {"unmatched": 2}

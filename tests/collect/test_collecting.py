"""Whole downloads through the command: what is in submitted/ afterwards, and what is said of each file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.batch.folder import read_folder

from .conftest import ASSIGNMENT, Collect, submitted
from .downloads import NIGHT, make_zip, notebook


def test_a_moodle_zip_with_a_roster(course: Path, collect: Collect, tmp_path: Path) -> None:
    ada, bao = "Ada Lovelace_4711_assignsubmission_file_", "Bao Nguyen_4712_assignsubmission_file_"
    files = {
        f"{ada}/final (2).ipynb": notebook("return 2"),
        f"{ada}/final (1).ipynb": notebook("return 1"),
        f"{ada}/data/points.csv": b"1,2",
        f"{ada}/timestamp.txt": b"2020-01-01 00:00:00 UTC",
        "Ada Lovelace_4711_assignsubmission_onlinetext_/onlinetext.html": b"<p>hello</p>",
        f"{bao}/toy.ipynb": notebook(prefix="other_"),
        "Eve_4713_assignsubmission_file_/toy.ipynb": notebook(),
        "readme.txt": b"",
    }
    path = make_zip(tmp_path / "moodle.zip", files)
    roster = tmp_path / "people.csv"
    roster.write_text(
        "Identifier,Full name,ID number\nParticipant 4711,Ada Lovelace,alo1\n"
        "Participant 4712,Bao Nguyen,ban1\nParticipant 9,Cyd,cyd1\n"
    )
    record = collect(path, "--roster", str(roster))
    assert record["pattern"] == "moodle"
    assert record["deeds"] == {
        f"{ada}/final (2).ipynb": "collected",
        f"{ada}/final (1).ipynb": "older attempt",
        f"{ada}/data/points.csv": "kept beside",
        f"{ada}/timestamp.txt": "left out",
        "Ada Lovelace_4711_assignsubmission_onlinetext_/onlinetext.html": "left out",
        f"{bao}/toy.ipynb": "refused",
        "Eve_4713_assignsubmission_file_/toy.ipynb": "unmatched",
        "readme.txt": "unmatched",
    }
    assert record["words"][f"{ada}/final (2).ipynb"] == "renamed to toy.ipynb"
    assert "lower number: 'final (2).ipynb' counts" in record["words"][f"{ada}/final (1).ipynb"]
    assert "it answers ps9-other (11 of its cells)" in record["words"][f"{bao}/toy.ipynb"]
    assert record["absent"] == ["cyd1"]
    assert record["code"] == 1
    assert submitted(course) == {
        f"alo1/{ASSIGNMENT}/toy.ipynb": notebook("return 2"),
        f"alo1/{ASSIGNMENT}/data/points.csv": b"1,2",
    }
    assert read_folder(course / "submitted" / "alo1" / ASSIGNMENT, "toy").notes == ()


def test_a_canvas_zip_without_a_roster(course: Path, collect: Collect, tmp_path: Path) -> None:
    late = "nguyenbao_LATE_1235_9002_toy.ipynb"
    files = {
        "lovelaceada_1234_9001_toy-1.ipynb": notebook(stripped=True),
        late: notebook(),
        "nguyenbao_LATE_1235_text.html": b"<p>I am late</p>",
        "ferrariada_1236_9003_toy.ipynb": b"",
    }
    record = collect(make_zip(tmp_path / "canvas.zip", files))
    assert (record["pattern"], record["code"]) == ("canvas", 0)
    assert "no cell's grade_id was found" in record["words"]["lovelaceada_1234_9001_toy-1.ipynb"]
    assert record["words"][late].startswith("it is marked late, but no time is known")
    assert record["words"]["ferrariada_1236_9003_toy.ipynb"] == "the file is empty"
    assert record["deeds"]["nguyenbao_LATE_1235_text.html"] == "left out"
    assert "within an hour" in record["notes"][0]
    assert sorted(submitted(course)) == [f"{one}/{ASSIGNMENT}/toy.ipynb" for one in (1234, 1235, 1236)]


def test_the_latest_attempt_counts_and_its_time_is_written(
    course: Path, collect: Collect, tmp_path: Path
) -> None:
    stem = "ps0_ada_attempt_2026-10-0{}-15-30-10"
    files = {
        stem.format(5) + "_toy.ipynb": notebook("return 5"),
        stem.format(6) + "_toy.ipynb": notebook("return 6"),
        stem.format(6) + "_data.csv": b"6",
        stem.format(5) + "_old.csv": b"5",
        stem.format(6) + ".txt": b"Name: Ada",
    }
    record = collect(make_zip(tmp_path / "b.zip", files), "--timezone", "Europe/Berlin")
    assert (record["pattern"], record["code"]) == ("blackboard", 0)
    assert record["deeds"][stem.format(5) + "_toy.ipynb"] == "older attempt"
    assert record["deeds"][stem.format(5) + "_old.csv"] == "older attempt"
    assert submitted(course) == {
        f"ada/{ASSIGNMENT}/toy.ipynb": notebook("return 6"),
        f"ada/{ASSIGNMENT}/data.csv": b"6",
        f"ada/{ASSIGNMENT}/timestamp.txt": b"2026-10-06 13:30:10 UTC\n",
    }


def test_times_in_a_zip_count_when_they_can_not_be_the_downloads(
    course: Path, collect: Collect, tmp_path: Path
) -> None:
    files = {"ada.ipynb": notebook(), "bao.ipynb": notebook("return 1")}
    path = make_zip(tmp_path / "a.zip", files, {"ada.ipynb": NIGHT})
    collect(path, "--timezone", "UTC")
    assert submitted(course)[f"ada/{ASSIGNMENT}/timestamp.txt"] == b"2026-10-05 23:30:00 UTC\n"
    assert submitted(course)[f"bao/{ASSIGNMENT}/timestamp.txt"] == b"2026-10-07 09:00:00 UTC\n"
    assert collect(path, "--timezone", "UTC")["counts"] == {"already there": 2}
    assert collect(path, "--times", "no")["counts"] == {"already there": 2}
    assert collect(path, "--timezone", "Nowhere/Else") == {"code": 2}


def test_different_work_is_replaced_only_when_asked_and_the_old_one_is_kept(
    course: Path, collect: Collect, tmp_path: Path
) -> None:
    first, second = notebook("return 1"), notebook("return 2")
    assert collect(make_zip(tmp_path / "1.zip", {"ada.ipynb": first}))["counts"] == {"collected": 1}
    path = make_zip(tmp_path / "2.zip", {"ada.ipynb": second})
    record = collect(path)
    assert (record["deeds"], record["code"]) == ({"ada.ipynb": "not replaced"}, 1)
    assert "--update replaces it" in record["words"]["ada.ipynb"]
    record = collect(path, "--update", "--dry-run")
    assert record["deeds"] == {"ada.ipynb": "replaced"}
    assert submitted(course) == {f"ada/{ASSIGNMENT}/toy.ipynb": first}
    record = collect(path, "--update")
    assert (record["deeds"], record["code"]) == ({"ada.ipynb": "replaced"}, 0)
    assert submitted(course) == {f"ada/{ASSIGNMENT}/toy.ipynb": second}
    (old,) = (course / ".deepdrills" / "replaced").rglob("toy.ipynb")
    assert old.read_bytes() == first
    assert str(old.parent.relative_to(course)) in record["words"]["ada.ipynb"]


def test_what_was_handed_in_earlier_never_replaces_what_was_later(
    course: Path, collect: Collect, tmp_path: Path
) -> None:
    for day, code in ((6, 0), (5, 1)):
        name = f"ps0_ada_attempt_2026-10-0{day}-15-30-10_toy.ipynb"
        record = collect(make_zip(tmp_path / f"{day}.zip", {name: notebook(f"return {day}")}), "--update")
        assert record["code"] == code
    assert "what is there was handed in later (2026-10-06" in next(iter(record["words"].values()))
    assert submitted(course)[f"ada/{ASSIGNMENT}/toy.ipynb"] == notebook("return 6")


def test_a_dry_run_writes_nothing(course: Path, collect: Collect, tmp_path: Path) -> None:
    record = collect(make_zip(tmp_path / "a.zip", {"ada.ipynb": notebook()}), "--dry-run")
    assert (record["deeds"], record["dry_run"]) == ({"ada.ipynb": "collected"}, True)
    assert not (course / "submitted").exists()
    assert not (course / ".deepdrills").exists()


def test_a_folder_of_students_with_a_zip_of_one_and_a_wrapper(
    course: Path, collect: Collect, tmp_path: Path
) -> None:
    inner = make_zip(tmp_path / "inner.zip", {"hw/mine.ipynb": notebook(), "../x.py": b"", "hw/a.py": b"1"})
    folder = tmp_path / "in" / "class"
    (folder / "bao").mkdir(parents=True)
    (folder / "ada.zip").write_bytes(inner.read_bytes())
    (folder / "bao" / "toy.ipynb.txt").write_bytes(notebook("return 3"))
    (folder / "bao" / "link.ipynb").symlink_to(folder / "ada.zip")
    (folder / "cyd.ipynb").write_bytes(b"")
    (folder / "dan.pdf").write_bytes(b"%PDF")
    record = collect(tmp_path / "in")
    assert record["pattern"] == "student"
    assert record["deeds"] == {
        "class/bao/link.ipynb": "refused",
        "ada.zip": "left out",
        "ada.zip/../x.py": "refused",
        "ada.zip/hw/a.py": "kept beside",
        "ada.zip/hw/mine.ipynb": "collected",
        "bao/toy.ipynb.txt": "collected",
        "cyd.ipynb": "collected",
        "dan.pdf": "refused",
    }
    assert "dan handed in no notebook" in record["words"]["dan.pdf"]
    assert submitted(course) == {
        f"ada/{ASSIGNMENT}/toy.ipynb": notebook(),
        f"ada/{ASSIGNMENT}/hw/a.py": b"1",
        f"bao/{ASSIGNMENT}/toy.ipynb": notebook("return 3"),
        f"cyd/{ASSIGNMENT}/toy.ipynb": b"",
    }


def test_two_people_of_one_name_are_not_taken_for_one(course: Path, collect: Collect, tmp_path: Path) -> None:
    files = {f"Bao Nguyen_{n}_assignsubmission_file_/toy.ipynb": notebook(f"return {n}") for n in (1, 2)}
    record = collect(make_zip(tmp_path / "a.zip", files))
    assert record["counts"] == {"unmatched": 2}
    assert "Bao Nguyen (1) and Bao Nguyen (2) would both be 'bao-nguyen'" in next(
        iter(record["words"].values())
    )
    assert submitted(course) == {}


def test_names_in_the_way_of_each_other_and_links_in_submitted(
    course: Path, collect: Collect, tmp_path: Path
) -> None:
    files = {
        "ada/work.ipynb": notebook(),
        "ada/toy.ipynb/x.csv": b"1",
        "ada/data": b"2",
        "ada/data/y.csv": b"3",
        "bao/toy.ipynb": notebook(),
    }
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (course / "submitted").mkdir()
    (course / "submitted" / "bao").symlink_to(elsewhere)
    record = collect(make_zip(tmp_path / "a.zip", files))
    assert record["deeds"]["ada/work.ipynb"] == "collected"
    assert record["deeds"]["ada/toy.ipynb/x.csv"] == "left out"
    assert sorted((record["deeds"]["ada/data"], record["deeds"]["ada/data/y.csv"])) == [
        "kept beside",
        "left out",
    ]
    assert record["deeds"]["bao/toy.ipynb"] == "refused"
    assert os.listdir(elsewhere) == []


def test_a_terminal_is_shown_no_control_characters(
    collect: Collect, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = collect(make_zip(tmp_path / "a.zip", {"\x1b[31m[bold]red.ipynb": b"", "ada.ipynb": notebook()}))
    assert record["code"] == 1
    assert "\x1b[31m" not in capsys.readouterr().out
    assert "\x1b[31m[bold]red.ipynb" in record["deeds"], "the JSON has the name as it is"


def test_a_course_without_its_own_pattern_can_not_ask_for_it(collect: Collect, tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip", {"ada.ipynb": notebook()})
    assert collect(path, "--pattern", "course") == {"code": 2}
    assert collect(tmp_path / "none.zip") == {"code": 2}

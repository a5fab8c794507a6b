"""Grades as CSV for each platform, rosters, and hostile names in all of them."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from autograder.errors import UsageError
from autograder.report.export import export
from autograder.report.formats import Format
from autograder.report.roster import match, read_roster
from autograder.report.spreadsheet import csv_text, harmless

from .a_class import HOSTILE, record, student

CLASS = record(student("ann", 2, 1.25, 1), student("bob", 0, 2, late=3725, penalty=0.5, to_mark=True))
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Old (1)
    Points Possible,,,,,10
"Lee, Ann",101,s-1,ANN,A,9
"Roe, Bob",102,s-2,bob,B,8
"Poe, Cy",103,s-3,cy,B,7
"""


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def roster(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "roster.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_plain() -> None:
    heads, ann, bob = read(export(CLASS, Format.CSV))
    assert heads[:3] == ["student", "score", "max_score"]
    assert ann == ["ann", "4.25", "5.0", "2.0", "1.25", "1.0", "0.0", "0.0", "0"]
    assert bob == ["bob", "1.5", "5.0", "0.0", "2.0", "0.0", "0.5", "3725.0", "1"]


def test_canvas_takes_names_and_ids_from_its_own_file(tmp_path: Path) -> None:
    matched = match(["ann", "bob"], read_roster(roster(tmp_path, CANVAS)))
    heads, possible, ann, bob = read(export(CLASS, Format.CANVAS, matched))
    assert heads[:6] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "ps1-convolution"]
    assert possible[:6] == ["    Points Possible", "", "", "", "", "5.0"]
    assert ann[:6] == ["Lee, Ann", "101", "s-1", "ANN", "A", "4.25"]
    assert bob[:6] == ["Roe, Bob", "102", "s-2", "bob", "B", "1.5"]
    assert matched.not_graded == ("Poe, Cy",)


def test_moodle_by_address(tmp_path: Path) -> None:
    text = "First name;ID number;Email address\nAnn;7;ann@uni.example\nBob;8;bob@uni.example\n"
    matched = match(["ann", "bob"], read_roster(roster(tmp_path, text)))
    heads, ann, _ = read(export(CLASS, Format.MOODLE, matched))
    assert heads[:4] == ["Username", "ID number", "Email address", "ps1-convolution"]
    assert ann[:4] == ["", "7", "ann@uni.example", "4.25"]


def test_gradescope(tmp_path: Path) -> None:
    text = "First Name,Last Name,SID,Email\nAnn,Lee,ann,a@uni.example\nBob,Roe,bob,b@uni.example\n"
    matched = match(["ann", "bob"], read_roster(roster(tmp_path, text)))
    heads, ann, bob = read(export(CLASS, Format.GRADESCOPE, matched))
    assert heads[7] == "1: output_size_checks (2 pts)"
    assert ann[:7] == ["Ann Lee", "ann", "a@uni.example", "4.25", "5.0", "Graded", "00:00:00"]
    assert bob[5:7] == ["Ungraded", "01:02:05"]


def test_without_a_roster_everybody_is_in_it() -> None:
    for format_ in Format:
        assert "bob" in export(CLASS, format_)


def test_who_is_not_matched_is_listed(tmp_path: Path) -> None:
    text = "username,email\nann,x@a.example\nbob,bob@a.example\nbob,bob@b.example\ncy,cy@a.example\n"
    matched = match(["ann", "bob", "x", "zoe", " "], read_roster(roster(tmp_path, text)))
    assert set(matched.rows) == set()
    assert matched.ambiguous == ("ann", "bob", "x"), "two rows, or two students for a row"
    assert matched.not_in_roster == ("zoe", " ")
    assert matched.not_graded == ("cy",)
    assert read(export(CLASS, Format.CSV, matched))[1:] == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "a line of headings"),
        ("username\n", "a line of headings"),
        ("colour,size\nred,1\n", "no column of the roster holds ids"),
        (b"username\n\xff\xfe\n", "not in UTF-8"),
    ],
    ids=["empty", "headings_only", "no_ids", "latin"],
)
def test_a_spoiled_roster_is_refused(tmp_path: Path, text: str | bytes, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_roster(roster(tmp_path, text))


def test_a_missing_roster_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_roster(tmp_path / "none.csv")


def test_a_byte_order_mark_and_short_lines(tmp_path: Path) -> None:
    found = read_roster(roster(tmp_path, b"\xef\xbb\xbfusername,email\r\nann\r\n\r\n"))
    assert found.rows == ({"username": "ann", "email": ""},)


@pytest.mark.parametrize("format_", Format)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_text_in_every_format(name: str, format_: Format) -> None:
    written = export(record(student(HOSTILE[name], 1, 1), student("bob", 2, 2)), format_)
    written.encode("utf-8")
    rows = read(written)
    assert len({len(row) for row in rows}) == 1, "no name opens a line or a column of its own"
    assert len(rows) == (4 if format_ is Format.CANVAS else 3)
    for row in rows:
        for cell in row:
            assert cell.isprintable()
            assert not cell.lstrip(" \u200b").startswith(("=", "+", "-", "@", "＝"))


def test_numbers_stay_numbers() -> None:
    assert csv_text([["a", -1.5, 3, None, True, float("nan")]]) == '"a",-1.5,3,"","yes",""\r\n'
    assert harmless("3.5") == "3.5"
    assert harmless("-5") == "'-5"

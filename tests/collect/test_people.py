from __future__ import annotations

import pytest

from autograder.collect.names import Name
from autograder.collect.people import People, Unknown
from autograder.errors import UsageError
from autograder.report.roster import Roster


def roster(headings: str, *rows: str) -> Roster:
    names = tuple(headings.split(";"))
    return Roster(names, tuple(dict(zip(names, row.split(";"), strict=True)) for row in rows))


MOODLE = roster(
    "Identifier;Full name;ID number;Email address",
    "Participant 4711;Ada Lovelace;alo1;ada@x.org",
    "Participant 4712;Seán O'Brien-Müller;sob1;sean@x.org",
    "Participant 4713;Bao Nguyen;ban1;bao@x.org",
    "Participant 4714;Bao Nguyen;ban2;bao2@x.org",
    "Participant 4715;Nobody;;",
)
CANVAS = roster(
    "Student;ID;SIS Login ID",
    "Lovelace, Ada;1234;alo1",
    "O'Brien-Müller, Seán;1235;sob1",
)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (Name("Ada Lovelace", "a", "4711"), "alo1"),
        (Name("Ada Lovelace", "a", "9"), "alo1"),
        (Name("LOVELACE ada", "a"), "alo1"),
        (Name("Sean OBrien Muller", "a"), "sob1"),
        (Name("Participant", "a", "4712"), "sob1"),
        (Name("Bao Nguyen", "a", "4714"), "ban2"),
        (Name("bao2", "a"), "ban2"),
        (Name("Bao Nguyen", "a"), Unknown("2 people of the roster are called 'Bao Nguyen'")),
        (Name("Eve", "a", "1"), Unknown("'Eve' is not in the roster")),
        (Name("Nobody", "a"), Unknown("'Nobody' has no id in the roster")),
    ],
)
def test_a_moodle_worksheet_says_who_it_is(name: Name, found: str | Unknown) -> None:
    assert People("moodle", MOODLE).find(name) == found


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (Name("somebody", "a", "1234"), "alo1"),
        (Name("lovelaceada", "a"), "alo1"),
        (Name("obrienmüllerseán", "a"), "sob1"),
        (Name("sob1", "a"), "sob1"),
    ],
)
def test_a_canvas_gradebook_says_who_it_is(name: Name, found: str) -> None:
    assert People("canvas", CANVAS).find(name) == found


def test_the_column_of_ids_can_be_named() -> None:
    people = People("moodle", MOODLE, "email ADDRESS")
    assert people.find(Name("Ada Lovelace", "a")) == "ada@x.org"
    assert people.absent == ["sean@x.org", "bao@x.org", "bao2@x.org"]
    with pytest.raises(UsageError, match="--id-column Matrikel: the roster has no such column"):
        People("moodle", MOODLE, "Matrikel")


@pytest.mark.parametrize(
    ("pattern", "name", "found"),
    [
        ("moodle", Name("Seán O'Brien", "a", "4711"), "sean-obrien"),
        ("canvas", Name("lovelaceada", "a", "1234"), "1234"),
        ("canvas", Name("anon_AbC12", "a"), "anon_AbC12"),
        ("student", Name("ada", "a"), "ada"),
        ("student", Name(".hidden", "a"), Unknown("'.hidden' cannot be a student's id")),
        ("student", Name("a[b]", "a"), Unknown("'a[b]' holds characters that a student's id cannot have")),
        ("student", Name("", "a"), Unknown("'' cannot be a student's id")),
    ],
)
def test_without_a_roster_the_platforms_own_name_or_number_is_the_id(
    pattern: str, name: Name, found: str | Unknown
) -> None:
    assert People(pattern).find(name) == found


def test_an_id_of_a_roster_may_not_lead_out_of_the_folder() -> None:
    people = People("moodle", roster("Full name;ID number", "Ada L;../../etc"))
    assert people.find(Name("Ada L", "a")) == Unknown("'../../etc' cannot be a student's id")

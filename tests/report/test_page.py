"""The report's page, its CSV and its words on a terminal, with hostile names in them."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from rich.console import Console

from autograder.exercises.catalogue import load_exercises
from autograder.report.class_report import class_report
from autograder.report.page import page, report_csv
from autograder.report.table import check_table, safe, score_table

from .a_class import ASSIGNMENT, HOSTILE, record, student

LOOP = "def f(a):\n" + "".join(
    f"    for i{n} in range({n}, len(a)):\n        a[i{n}] += {n}\n" for n in range(9)
)


class Reader(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def hostile_page(text: str) -> str:
    a_class = record(
        student(
            text,
            0,
            1,
            misconception=text,
            repairs=(text,),
            flags=(text,),
            late=60,
            to_mark=True,
            code={"output_size": LOOP},
        ),
        student("bob", 2, 2, 1, code={"output_size": LOOP}),
        missing=(text + "x",),
    )
    return page(class_report(a_class, load_exercises(ASSIGNMENT)))


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_of_a_name_runs_or_loads_in_the_page(name: str) -> None:
    text = hostile_page(HOSTILE[name])
    text.encode("utf-8")
    reader = Reader(text)
    assert {tag for tag, _ in reader.tags}.isdisjoint(
        {"script", "iframe", "link", "form", "svg", "object", "base"}
    )
    for tag, attributes in reader.tags:
        for key, value in attributes.items():
            assert not key.startswith("on"), tag
            if key == "src":
                assert str(value).startswith("data:image/png;base64,")
            if key == "href":
                assert str(value).startswith("#")
    assert sum(tag == "img" for tag, _ in reader.tags) == 2
    assert not re.search("[\x00\x1b\u202e]", text)
    assert text.count("</main>") == 1


def test_the_page_stands_alone_and_is_ordered() -> None:
    text = hostile_page("ann")
    assert "http" not in re.sub(r"<meta[^>]*>", "", text)
    levels = [int(tag[1]) for tag, _ in Reader(text).tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = [attributes["id"] for _, attributes in Reader(text).tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_figures_say_in_words_what_they_show() -> None:
    pictures = [attributes for tag, attributes in Reader(hostile_page("ann")).tags if tag == "img"]
    assert all(base64.b64decode(str(one["src"]).split(",")[1]).startswith(b"\x89PNG") for one in pictures)
    first, second = (str(one["alt"]) for one in pictures)
    assert first.startswith("Histogram of 2 totals: 1 from 1 to 1.5, 1 from 4.5 to 5 points; the median is 3")
    assert "Output size 50 %" in second


def test_pairs_are_places_to_look() -> None:
    text = hostile_page("ann")
    assert "ann and bob" in text
    assert "Places to look, not verdicts" in text


def test_an_empty_class_has_a_page() -> None:
    assert "Report on" in page(class_report(record(), {}))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_no_formula_in_the_csv(name: str) -> None:
    a_class = record(student(HOSTILE[name], 1, 1), student("bob", 2, 2))
    rows = list(csv.reader(io.StringIO(report_csv(class_report(a_class, {})), newline="")))
    assert [len(row) for row in rows] == [len(rows[0])] * 3
    assert rows[1][1:3] == ["2.0", "5.0"]
    assert not rows[1][0].lstrip().startswith(("=", "+", "-", "@", "＝"))
    assert rows[1][0].isprintable()


@pytest.mark.parametrize("name", HOSTILE)
def test_json_gives_a_name_back_as_it_is(name: str) -> None:
    report = class_report(record(student(HOSTILE[name], 1, 1)), {})
    assert json.loads(json.dumps(report.to_json()))["students"][0]["student"] == HOSTILE[name]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_terminal_gets_no_escape_and_no_markup(name: str) -> None:
    hostile = HOSTILE[name]
    one = student(hostile, 0, 0, message=hostile).report
    assert one is not None
    screen = Console(file=io.StringIO(), width=200, force_terminal=True, color_system=None)
    screen.print(score_table([one], "a class"))
    screen.print(check_table(one))
    screen.print(f"{safe(hostile)}: not graded")
    assert isinstance(screen.file, io.StringIO)
    said = screen.file.getvalue()
    assert not re.search("[\x00\x07\u202e\ud800]", said)
    assert "\x1b]" not in said
    assert "\x1b[2J" not in said

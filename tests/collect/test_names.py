from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from nbgrader.apps.zipcollectapp import ZipCollectApp
from nbgrader.plugins.zipcollect import FileNameCollectorPlugin
from traitlets.config import Config

from autograder.collect.names import PATTERNS, Name, Names, recognise


@pytest.mark.parametrize(
    ("pattern", "path", "name"),
    [
        (
            "moodle",
            "Ada Lovelace_4711_assignsubmission_file_/convolution.ipynb",
            Name("Ada Lovelace", "convolution.ipynb", "4711"),
        ),
        (
            "moodle",
            "Ada Lovelace_4711_assignsubmission_file/data/a.csv",
            Name("Ada Lovelace", "data/a.csv", "4711"),
        ),
        (
            "moodle",
            "Ada Lovelace_4711_assignsubmission_file_my_conv_2.ipynb",
            Name("Ada Lovelace", "my_conv_2.ipynb", "4711"),
        ),
        (
            "moodle",
            "ps1-4711/Group A-Ada Lovelace_4711_assignsubmission_file_/x.ipynb",
            Name("Group A-Ada Lovelace", "x.ipynb", "4711"),
        ),
        (
            "moodle",
            "Participant_12_assignsubmission_onlinetext_/onlinetext.html",
            Name("Participant", "onlinetext.html", "12", own=True),
        ),
        ("moodle", "Ada Lovelace/convolution.ipynb", None),
        (
            "canvas",
            "lovelaceada_1234_56789_my_conv_2.ipynb",
            Name("lovelaceada", "my_conv_2.ipynb", "1234"),
        ),
        (
            "canvas",
            "lovelaceada_LATE_1234_56789_convolution-1.ipynb",
            Name("lovelaceada", "convolution-1.ipynb", "1234", late=True),
        ),
        ("canvas", "anon_AbC12_56789_convolution.ipynb", Name("anon_AbC12", "convolution.ipynb")),
        (
            "canvas",
            "LATE_anon_AbC12_56789_convolution.ipynb",
            Name("anon_AbC12", "convolution.ipynb", late=True),
        ),
        (
            "canvas",
            "lovelaceada_1234_text.html",
            Name("lovelaceada", "lovelaceada_1234_text.html", "1234", own=True),
        ),
        ("canvas", "ada_12_convolution.ipynb", None),
        (
            "blackboard",
            "ps1_ada_attempt_2026-10-05-15-30-10_convolution.ipynb",
            Name("ada", "convolution.ipynb", when=datetime(2026, 10, 5, 13, 30, 10, tzinfo=UTC)),
        ),
        (
            "blackboard",
            "ps1_ada_attempt_2026-10-05-15-30-10.txt",
            Name(
                "ada",
                "ps1_ada_attempt_2026-10-05-15-30-10.txt",
                when=datetime(2026, 10, 5, 13, 30, 10, tzinfo=UTC),
                own=True,
            ),
        ),
        ("student", "ada.ipynb", Name("ada", "ada.ipynb")),
        ("student", "ada/parts/x.ipynb", Name("ada", "parts/x.ipynb")),
    ],
)
def test_what_a_name_says(pattern: str, path: str, name: Name | None) -> None:
    assert Names(pattern, ZoneInfo("Europe/Berlin")).read(path) == name


def test_the_pattern_that_most_files_have_is_taken_and_none_means_by_student() -> None:
    canvas = ["ada_1_2_a.ipynb", "bao_3_4_b.ipynb", "readme.txt"]
    assert recognise(canvas, UTC).pattern == "canvas"
    assert recognise(["ada.ipynb", "bao.ipynb"], UTC).pattern == "student"
    assert recognise([], UTC).pattern == "student"


def test_a_courses_own_pattern_is_nbgraders_setting() -> None:
    regexp = r"(?P<file_id>\w+)--(?P<student_id>\w+)--(?P<timestamp>[^.]+)"
    config = Config({"FileNameCollectorPlugin": {"named_regexp": regexp}})
    names = recognise(["convolution--ada--2026-10-05 15:30:10 UTC.ipynb"], UTC, config)
    assert names.pattern == "course"
    when = datetime(2026, 10, 5, 15, 30, 10, tzinfo=UTC)
    assert names.read("convolution--ada--2026-10-05 15:30:10 UTC.ipynb") == Name(
        "ada", "convolution", when=when
    )
    assert names.read("convolution--ada--yesterday.ipynb") == Name("ada", "convolution")


@pytest.mark.parametrize("pattern", PATTERNS)
def test_nbgraders_own_command_takes_each_pattern(pattern: str) -> None:
    app = ZipCollectApp()
    app.collector_plugin = f"autograder.collect.names.{pattern.title()}Names"
    plugin = app.collector_plugin(parent=app)
    assert isinstance(plugin, FileNameCollectorPlugin)
    path = {
        "moodle": "/c/extracted/x/Ada L_4711_assignsubmission_file_/convolution.ipynb",
        "canvas": "/c/extracted/x/ladal_1234_56789_convolution.ipynb",
        "blackboard": "/c/extracted/x/ps1_ada_attempt_2026-10-05-15-30-10_convolution.ipynb",
    }[pattern]
    found = plugin.collect(path)
    assert found is not None
    assert found["file_id"] == "convolution.ipynb"
    assert found["student_id"] in ("Ada L", "ladal", "ada")

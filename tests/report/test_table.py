from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console, RenderableType
from rich.text import Text

from autograder.report.table import check_table, duration, misconceptions, safe, score_table
from autograder.results import CheckResult, ExerciseResult, GradeReport, Outcome


def exercise(name: str, *checks: CheckResult) -> ExerciseResult:
    gravest = Outcome.PASSED if all(one.outcome is Outcome.PASSED for one in checks) else Outcome.FAILED
    points = sum(one.points for one in checks)
    return ExerciseResult(f"{name}_checks", points, sum(one.max_points for one in checks), gravest, checks)


def check(
    outcome: Outcome = Outcome.PASSED, message: str = "Fine.", misconception: str | None = None
) -> CheckResult:
    earned = 0.5 if outcome is Outcome.PASSED else 0.0
    return CheckResult("one", outcome, earned, 0.5, message, misconception)


REPORT = GradeReport(
    "ada", "ps1-convolution", "convolution", 1.5, 20.0, 93_600.0, ("A repair.", "Another."), ("seccomp",),
    1.0,
    (
        exercise("output_size", check(), check(Outcome.FAILED, "Padding is forgotten.", "pad_forgotten"),
                 check(Outcome.FAILED, "The stride divides.", "pad_forgotten")),
        exercise("conv2d", check(), check()),
    ),
)  # fmt: skip


def printed(what: RenderableType, width: int = 200, colours: bool = False) -> str:
    console = Console(
        file=StringIO(), width=width, force_terminal=colours, color_system="truecolor" if colours else None
    )
    console.print(what)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert isinstance(text, str)
    return text


def test_a_class_has_one_line_a_submission() -> None:
    text = printed(score_table([REPORT, replace(REPORT, student="bao", late_seconds=0.0, repairs=())], "ps1"))
    ada = next(line for line in text.splitlines() if "ada" in line)
    bao = next(line for line in text.splitlines() if "bao" in line)
    for words in ("1.5 / 20", "1 passed, 1 failed", "1 d 2 h"):
        assert words in ada
    assert [part.strip() for part in ada.split("│")[4:7]] == ["1", "1 d 2 h", "2"]
    assert [part.strip() for part in bao.split("│")[4:7]] == ["1", "", ""]


def test_a_class_without_submissions_is_an_empty_table() -> None:
    assert "student" in printed(score_table([], "ps1"))


def test_every_check_that_says_something_of_its_own_has_a_line() -> None:
    text = printed(check_table(REPORT))
    for words in (
        "convolution: 1.5 / 20",
        "Padding is forgotten.",
        "The stride divides.",
        "0 / 0.5",
        "failed",
    ):
        assert words in text
    assert text.count("output_size") == 1
    assert "conv2d" in text


def test_outcomes_are_said_by_words_too() -> None:
    for outcome in Outcome:
        report = replace(REPORT, exercises=(ExerciseResult("a_checks", 0, 1, outcome, (check(outcome),)),))
        assert outcome.value in printed(check_table(report))
        assert outcome.value in printed(score_table([report], "t"))


def test_misconceptions_are_counted_once_an_exercise() -> None:
    assert misconceptions(REPORT) == ["output_size: pad_forgotten"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (59.9, "59 s"), (61, "1 min 1 s"), (3600, "1 h"), (90_061, "1 d 1 h"), (0.4, "0 s")],
)
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words


HOSTILE = [
    "[bold]ada[/bold]", "[red]", "[/]", "[/red]", "[link=http://evil]ada", "[@click=app.quit]x[/]", "[", "]",
    "[[", "\\", "\\[red]x", "[red", "ada\\", "[b", "a[0]", "\x1b[31mred", "a\nb", "\x07", "\u202eada", "",
    " ",
]  # fmt: skip


def shown(name: str) -> str:
    """As it reads in the table: a bracket that nothing closes is rounded, what can not be printed is `?`."""
    return shown_whole(name).strip()


def shown_whole(name: str) -> str:
    text = "".join(char if char.isprintable() else "?" for char in name)
    before, _, after = text.rpartition("[")
    return text if "]" in after or "[" not in text else f"{before}({after}"


@pytest.mark.parametrize("name", HOSTILE)
def test_markup_and_escapes_in_a_students_text_are_inert(name: str) -> None:
    report = replace(
        REPORT,
        student=name,
        notebook=name,
        exercises=(ExerciseResult(name, 0, 1, Outcome.FAILED, (check(Outcome.FAILED, name), check())),),
    )
    for table in (score_table([report], "title"), check_table(report)):
        text = printed(table)
        assert shown(name) in text
        assert "\x1b" not in text
        assert "\x07" not in text
        coloured = printed(table, colours=True)
        assert "\x1b]8" not in coloured, "a link"
        assert "\x1b[31mred" not in coloured


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("words", ["a list [1, 2]", "[/]", "]", "x[/red]", "bold]"])
def test_what_is_printed_after_a_students_text_is_not_swallowed_by_it(name: str, words: str) -> None:
    text = Text.from_markup(f"{safe(name)}: {safe(words)}")
    assert text.plain.endswith(f": {words}")
    assert text.spans == []


@settings(deadline=None)
@given(st.text(max_size=40), st.text(max_size=10))
def test_any_text_is_inert(name: str, words: str) -> None:
    text = Text.from_markup(f"{safe(name)}: {safe(words)}", emoji=False)
    assert text.spans == []
    assert text.plain.isprintable()
    assert text.plain.replace("\\", "") == f"{shown_whole(name)}: {shown_whole(words)}".replace("\\", "")


def test_a_long_text_is_cut() -> None:
    assert len(safe("x" * 5000)) == 300

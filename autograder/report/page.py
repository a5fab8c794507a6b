"""The report on a class as one HTML page that loads nothing and runs nothing."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from autograder.report.class_report import ClassReport
from autograder.report.figures import exercise_picture, score_picture
from autograder.report.spreadsheet import csv_text
from autograder.report.table import duration

TEMPLATES = Path(__file__).parent / "templates"


def page(report: ClassReport) -> str:
    """The page. Every text is escaped by the template; the pictures are in it."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"points": points, "share": share, "duration": duration, "shown": shown}
    style = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    titles = {one.item.name: one.title for one in report.exercises}
    return environment.get_template("report.html.j2").render(
        report=report,
        titles=titles,
        scores=score_picture(report),
        exercises=exercise_picture(report),
        css=Markup(style),
    )


def report_csv(report: ClassReport) -> str:
    """One line a student: total, points of each exercise, time, repairs, flags, misconceptions, lateness."""
    names = [one.item.name for one in report.exercises]
    rows: list[list[object]] = [
        ["student", "score", "max_score", *names, "late_seconds", "penalty", "grading_seconds", "repairs",
         "flags", "misconceptions", "to_mark"]
    ]  # fmt: skip
    for one in report.students:
        points_of = [one.points.get(name) for name in names]
        rows.append(
            [one.student, one.score, one.max_score, *points_of, one.late_seconds, one.penalty, one.seconds,
             len(one.repairs), len(one.flags), one.misconceptions, len(one.to_mark)]
        )  # fmt: skip
    return csv_text(rows)


def points(value: float) -> str:
    return f"{round(value, 2) + 0.0:g}"


def share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def shown(text: str) -> str:
    """A name or a sentence without what turns the text around it, at most 300 characters."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)[:300]

"""The report's figures: PNG pictures drawn by matplotlib without a screen, each with its words."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from autograder.report.class_report import ClassReport

#: Colours that stay apart for colour-blind readers (Okabe and Ito).
BLUE, ORANGE, GREY = "#0072B2", "#E69F00", "#57606a"
_BINS = 10


@dataclass(frozen=True)
class Picture:
    """A PNG as base64, and the same in words for who does not see it."""

    png: str
    alt: str


def score_picture(report: ClassReport) -> Picture | None:
    """How many students have how many points; None for a class without a total."""
    if report.spread is None or report.max_score <= 0:
        return None
    totals = [one.score for one in report.students]
    counts = [0] * _BINS
    for total in totals:
        counts[max(0, min(int(total / report.max_score * _BINS), _BINS - 1))] += 1
    width = report.max_score / _BINS
    figure, axes = _axes(7, 3)
    axes.bar([width * (n + 0.5) for n in range(_BINS)], counts, width=0.92 * width, color=BLUE)
    axes.axvline(report.spread.median, color=ORANGE, linewidth=2.5, label="median")
    axes.set_xlabel(f"points (of {report.max_score:g})")
    axes.set_ylabel("students")
    axes.set_xlim(0, report.max_score)
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.legend(frameon=False)
    parts = [
        f"{count} from {width * n:.3g} to {width * (n + 1):.3g}" for n, count in enumerate(counts) if count
    ]
    alt = f"Histogram of {len(totals)} totals: {', '.join(parts)} points"
    return _picture(figure, f"{alt}; the median is {report.spread.median:.3g}.")


def exercise_picture(report: ClassReport) -> Picture | None:
    """The share of its points that was earned on each exercise; None when there is none."""
    lines = [one for one in report.exercises if one.item.difficulty is not None]
    if not lines:
        return None
    names = [_short(one.title) for one in lines]
    shares = [100 * (one.item.difficulty or 0.0) for one in lines]
    figure, axes = _axes(7, 0.6 + 0.34 * len(lines))
    places = list(range(len(lines)))[::-1]
    axes.barh(places, [100] * len(lines), color="#e6e9ed", height=0.7)
    axes.barh(places, shares, color=BLUE, height=0.7)
    axes.set_yticks(places, names)
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of the points that was earned (%)")
    axes.tick_params(axis="y", length=0)
    parts = [f"{name} {share:.0f} %" for name, share in zip(names, shares, strict=True)]
    return _picture(figure, f"Bars of the share of points earned on each exercise: {', '.join(parts)}.")


def _axes(width: float, height: float) -> tuple[Figure, Any]:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GREY)
    return figure, axes


def _picture(figure: Figure, alt: str) -> Picture:
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=130, metadata={"Software": None})
    return Picture(base64.b64encode(file.getvalue()).decode("ascii"), alt)


def _short(title: str) -> str:
    """A title as a label; a dollar sign would begin a formula of matplotlib's."""
    return (title if len(title) <= 34 else title[:33] + "…").replace("$", "")

"""The confusion table of an audit: one line an exercise."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from autograder.batch.audit import Verdict
from autograder.report.table import safe


def audit_table(verdicts: Sequence[Verdict], title: str) -> Table:
    """Wrong answers refused, right ones accepted, misconceptions named and misnamed, by exercise."""
    table = Table(title=title, title_justify="left", show_footer=True)
    rows: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in verdicts:
        rows.setdefault((verdict.answer.assignment, verdict.answer.exercise), []).append(verdict)
    total = _counts(verdicts)
    headings = ("wrong refused", "right accepted", "named", "misnamed")
    table.add_column("exercise", footer="all", overflow="fold")
    for heading, (good, of) in zip(headings, total, strict=True):
        table.add_column(heading, footer=_cell(good, of, heading), justify="right", no_wrap=True)
    for (_, exercise), members in sorted(rows.items()):
        cells = [
            _cell(good, of, heading) for heading, (good, of) in zip(headings, _counts(members), strict=True)
        ]
        table.add_row(safe(exercise), *cells)
    return table


def _counts(verdicts: Sequence[Verdict]) -> list[tuple[int, int]]:
    wrong = [one for one in verdicts if not one.answer.right]
    right = [one for one in verdicts if one.answer.right]
    own = [one for one in wrong if one.answer.name in one.named]
    other = [one for one in verdicts if set(one.named) - {one.answer.name}]
    return [
        (sum(not one.full for one in wrong), len(wrong)),
        (sum(one.full for one in right), len(right)),
        (len(own), len(wrong)),
        (len(other), 0),
    ]


def _cell(good: int, of: int, heading: str) -> str:
    if heading == "misnamed":
        return f"[red]{good}[/]" if good else "0"
    return f"{good} / {of}" if good == of else f"[red]{good} / {of}[/]"

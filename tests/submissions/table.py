"""The table of docs/security.md: each case, what a plain nbgrader gives, and what is given here.

What is given here is what the tests of the same cases assert, word for word; what a plain nbgrader
gives was measured by `python -m benchmarks.stock_nbgrader` and is kept in stock.json.
`python -m tests.submissions.table` writes the table into the document.
"""

from __future__ import annotations

import json
import re
from itertools import groupby
from pathlib import Path
from typing import Any

from .arena import ATTACKED, ROOT
from .hostile.attacks import ATTACKS
from .odd.case import FULL, Odd
from .odd.test_odd import CASES

DOCUMENT = ROOT / "docs" / "security.md"
STOCK = Path(__file__).parent / "stock.json"
BEGIN, END = "<!-- the table begins: make security -->", "<!-- the table ends -->"
MOST = sum(FULL.values())


def table() -> str:
    """Markdown: odd submissions, attacks one by one, and attacks that only our own machine knows."""
    stock: dict[str, Any] = json.loads(STOCK.read_text(encoding="utf-8"))
    lines = [
        f"### Odd submissions ({len(CASES)})",
        "",
        f"Everything is answered rightly unless the name says otherwise: {MOST:g} points.",
        "",
        "| case | plain nbgrader | here |",
        "|---|---|---|",
        *(_row(case.name, _stock(stock.get(f"odd: {case.name}"), None), _odd(case)) for case in CASES),
        "",
        f"### Attacks ({len(ATTACKS)})",
        "",
        f"Each stands in the answer to `{ATTACKED}`, which is worth {FULL[ATTACKED]:g} points; the points are "
        "those of that exercise. Attacks on our own pipe and process have nothing to attack in a plain nbgrader.",
        "",
        "| attack | plain nbgrader | here |",
        "|---|---|---|",
    ]
    for group, attacks in groupby(ATTACKS, key=lambda attack: attack.group):
        for attack in attacks:
            theirs = _stock(stock.get(f"{group}: {attack.name}"), attack.points) if attack.stock else "—"
            lines.append(_row(f"{group}: {attack.name}", theirs, f"{attack.points:g}"))
    return "\n".join(lines)


def forged() -> int:
    """How many attacks earned a plain nbgrader's points that their answer was not worth."""
    stock: dict[str, Any] = json.loads(STOCK.read_text(encoding="utf-8"))
    known = [(attack, stock.get(f"{attack.group}: {attack.name}")) for attack in ATTACKS]
    return sum(one is not None and one["points"].get(ATTACKED, 0.0) > attack.points for attack, one in known)


def _odd(case: Odd) -> str:
    said = f": {case.said[0]}" if case.said else ""
    more = f" (and {len(case.said) - 1} more)" if len(case.said) > 1 else ""
    lost = {outcome.value for outcome in case.lost.values()}
    ended = f" ({', '.join(sorted(lost))})" if lost else ""
    return f"{case.points:g}{ended}{said}{more}"


def _stock(found: dict[str, Any] | None, honest: float | None) -> str:
    """`honest`: what the attacked exercise is worth; None for all exercises together."""
    if found is None:
        return "not measured"
    if found.get("others"):
        return "**another student's points are changed**"
    if "others" in found and found["ended"] is None:
        return "**the batch hangs**: stopped after five minutes, with the student after this one not graded"
    if "others" in found:
        return "**the batch ends**: the student after this one is not graded"
    if not found["points"]:
        if found["ended"] is None:
            return "not graded: never ended"
        return f"not graded: {found['said']}" if found["said"] else "not graded, and nothing said"
    if honest is None:
        return f"{sum(found['points'].values()):g}"
    points = found["points"].get(ATTACKED, 0.0)
    return f"{points:g}, **forged**" if points > honest else f"{points:g}"


def _row(*columns: str) -> str:
    return "| " + " | ".join(_plain(column) for column in columns) + " |"


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    kept = re.sub(r"\s+", " ", "".join(char if char.isprintable() else "?" for char in text))
    return re.sub(r"([\\|<>`_\[\]]|(?<!\*)\*(?!\*))", r"\\\1", kept)


def with_table(document: str) -> str:
    """The document with the table as it is now."""
    before, _, rest = document.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    DOCUMENT.write_text(with_table(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{DOCUMENT}: {len(CASES)} odd submissions, {len(ATTACKS)} attacks, {forged()} forged elsewhere")

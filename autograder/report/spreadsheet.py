"""CSV that a spreadsheet opens without running anything that a student wrote."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence

#: What begins a formula in a spreadsheet, in its full-width forms too; a tab or a line's end may hide one.
_FORMULA = frozenset("=+-@\t\r\n|%＝＋－＠﹢﹣﹦﹫−")
#: Characters that hide or turn around what follows them.
_UNSEEN = "\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV (UTF-8, commas, CRLF): numbers as numbers, every text harmless and in quotes.

    In quotes because a spreadsheet of another language separates by semicolons.
    """
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n", quoting=csv.QUOTE_NONNUMERIC)
    for row in rows:
        writer.writerow([harmless(value) for value in row])
    return written.getvalue()


def harmless(value: object) -> str | int | float:
    """One cell. A text that would be a formula gets an apostrophe before it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return round(value, 4) + 0.0 if math.isfinite(value) else ""
    text = "".join(char if char.isprintable() else " " for char in _visible(str(value)))
    return f"'{text}" if text.lstrip()[:1] in _FORMULA and text.strip() else text


def _visible(text: str) -> str:
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text.translate({ord(char): None for char in _UNSEEN})

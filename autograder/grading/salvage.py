"""Read what is left of a notebook whose JSON is broken: a merge conflict, a file that was cut off.

A student's text, so with limits; nothing in it is trusted or executed.
"""

from __future__ import annotations

import json
import re
from typing import Any

from autograder.grading.skimming import MOST_PARTS

_CELLS, _FAILURES = 3_000, 50
#: Lines in which merge conflicts are looked for; the largest of our executed notebooks has 3 000.
_LINES_LIMIT = 200_000
#: Characters that are read in vain, in all, in search of whole cells.
_VAIN_LIMIT = 16 << 20
_MARKERS = re.compile(r"^(?:<{7}|={7}|>{7}|\|{7})(?: .*)?$", re.MULTILINE)
#: How a cell begins in a file; inside a string its quotes would be escaped.
_CELL = re.compile(r'\{\s*"(?:cell_type|id|metadata|attachments|execution_count|source|outputs)"\s*:')


def salvage(text: str, broken: int) -> tuple[Any, str] | None:
    """Notebook JSON made of what can be read of `text`, and the sentence that says so; None if nothing can.

    `broken`: the line at which a JSON parser gave up.
    """
    if sum(map(text.count, ("[", "{", ","))) > MOST_PARTS:
        return None  # those in texts count too: where a damaged text ends cannot be told
    found = _one_side(text) if text.count("\n") <= _LINES_LIMIT else None
    if found is not None:
        return found
    cells = _whole_cells(text)
    if not cells:
        return None
    said = f"The file is damaged (line {broken}); the {len(cells)} cells that are whole were read."
    return {"cells": cells}, said


def _one_side(text: str) -> tuple[Any, str] | None:
    """The notebook with one side of every merge conflict."""
    first = _MARKERS.search(text)
    if first is None or not first[0].startswith("<"):
        return None
    line = text.count("\n", 0, first.start()) + 1
    for side in ("upper", "lower"):
        try:
            data = json.loads(_keep(text, side))
        except (ValueError, RecursionError):
            continue
        return data, f"The file holds a merge conflict (line {line}); the {side} side of each was read."
    return None


def _keep(text: str, side: str) -> str:
    kept: list[str] = []
    here = "both"
    for line in text.split("\n"):
        if _MARKERS.fullmatch(line):
            here = {"<": "upper", "|": "base", "=": "lower", ">": "both"}[line[0]]
        elif here in ("both", side):
            kept.append(line)
    return "\n".join(kept)


def _whole_cells(text: str) -> list[Any]:
    """The cells that can be read one by one."""
    decoder = json.JSONDecoder()
    cells: list[Any] = []
    at = failures = vain = 0
    while len(cells) < _CELLS and failures < _FAILURES and vain < _VAIN_LIMIT:
        begin = _CELL.search(text, at)
        if begin is None:
            break
        try:
            cell, at = decoder.raw_decode(text, begin.start())
        except (ValueError, RecursionError) as error:
            at = begin.end()
            failures += 1  # each may have read to the end of the file
            vain += error.pos - begin.start() if isinstance(error, json.JSONDecodeError) else 0
            continue
        if isinstance(cell, dict) and "cell_type" in cell and "source" in cell:
            cells.append(cell)
        else:
            vain += at - begin.start()
            at = begin.end()
            failures += 1
    return cells

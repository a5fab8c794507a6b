"""Experiments: cells that are not run again while grading. What they recorded is the student's claim.

A cell with the tag `experiment` keeps its submitted outputs. `record(name, **numbers)`, given in the
notebook, shows its numbers as JSON, and they are read here with suspicion: a claim proves nothing.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Iterable
from typing import Any

from autograder.grading.defined_names import CELL_LIMIT
from autograder.grading.reading import encodable

#: The tag, in the metadata of a source cell.
EXPERIMENT = "experiment"
#: Where the notebook's `record` keeps what it showed, so that later cells can use it.
VARIABLE = "RECORDED"

AS_SUBMITTED = "[As submitted: this experiment was not run again for the grade.]\n"

Claim = dict[str, Any]

_MIME = "application/json"
_TEXT_LIMIT = 1 << 16
_NUMBERS_LIMIT = 2_000
#: Claims of one cell; an experiment of ours records one or two.
_CLAIMS_LIMIT = 50
_DEPTH = 3


def claims(outputs: Iterable[Any]) -> dict[str, Claim]:
    """The claims in a cell's outputs by name, the last of each name; what is no claim is left out."""
    found: dict[str, Claim] = {}
    for output in outputs:
        bundle = output.get("data") if isinstance(output, dict) else None
        claim = _claim(bundle.get(_MIME)) if isinstance(bundle, dict) else None
        if claim is not None:
            name, numbers = claim
            found.pop(name, None)
            found[name] = numbers
        if len(found) == _CLAIMS_LIMIT:
            break
    return found


def claim_output(name: str, numbers: Claim) -> dict[str, Any]:
    """The output that `record(name, **numbers)` leaves in a notebook."""
    data = {_MIME: {"claim": name, "numbers": numbers}, "text/plain": f"recorded: {name}"}
    return {"output_type": "display_data", "data": data, "metadata": {}}


def stand_in(source: str, claimed: dict[str, Claim]) -> str:
    """What is run instead of an experiment, so that later cells find what they use.

    The cell's functions, classes, imports and literal constants, at their own lines, then its
    claims in `RECORDED`. Only the latter when the cell is not plain Python, or too long to be parsed here.
    """
    lines = source.split("\n")
    kept: set[int] = set()
    try:
        body = ast.parse(source).body if len(source) <= CELL_LIMIT else []
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        body = []
    for node in body:
        if _defines(node):
            first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
            kept.update(range(first, (node.end_lineno or first) + 1))
    text = "\n".join(line if number in kept else "" for number, line in enumerate(lines, 1))
    return f"{text}\n{VARIABLE}.update({claimed!r})" if claimed else text


def _defines(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign):
        try:
            ast.literal_eval(node.value)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return False
        return True
    return isinstance(
        node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
    )


def _claim(data: Any) -> tuple[str, Claim] | None:
    if isinstance(data, list) and all(isinstance(line, str) for line in data):
        data = "".join(data)
    if isinstance(data, str):
        if len(data) > _TEXT_LIMIT:
            return None
        try:
            data = json.loads(encodable(data))
        except (ValueError, RecursionError):
            return None
    if not isinstance(data, dict) or not isinstance(data.get("claim"), str):
        return None
    numbers = data.get("numbers")
    if not isinstance(numbers, dict) or len(numbers) > 100:
        return None
    if not all(isinstance(key, str) and len(key) <= 60 for key in numbers):
        return None
    count = [0]
    if not all(_plain(value, 0, count) for value in numbers.values()):
        return None
    return data["claim"][:60], numbers


def _plain(value: Any, depth: int, count: list[int]) -> bool:
    """Whether a claimed value is a short word, a finite number or lists of them, few enough in all."""
    count[0] += 1
    if count[0] > _NUMBERS_LIMIT:
        return False
    if isinstance(value, list):
        return depth < _DEPTH and all(_plain(one, depth + 1, count) for one in value)
    if isinstance(value, str):
        return len(value) <= 60
    if isinstance(value, bool) or value is None:
        return True
    if isinstance(value, int):
        return abs(value) < 2**53
    return isinstance(value, float) and math.isfinite(value)

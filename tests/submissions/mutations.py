"""What happens to a notebook between release and hand-in, as hypothesis draws it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

Cells = list[Any]
Mutation = tuple[str, int, int, Any]

JUNK = [
    "",
    " ",
    "\ud800",
    "x = 1",
    "# note",
    "def f(:",
    "%magic",
    "!ls",
    "\0",
    "é" * 40,
    "raise ValueError",
    "<b>",
    "]]",
]
KINDS: list[Any] = ["code", "markdown", "raw", "heading", "slide", "", None, 3, []]
FLAGS = [
    "grade",
    "solution",
    "locked",
    "task",
    "points",
    "schema_version",
    "checksum",
    "cell_type",
    "grade_id",
]
VALUES: list[Any] = [
    True,
    False,
    None,
    0,
    -1,
    1e308,
    "",
    "1",
    "NaN",
    [],
    {},
    "output_size",
    "conv2d_checks",
    "title",
]
STRUCTURE = ["delete", "double", "move", "merge", "split", "join sources", "swap"]
METADATA = ["strip", "strip nbgrader", "flag", "retype", "tags", "id", "steal grade_id"]
SOURCES = ["cut", "junk line", "drop line", "comment", "indent", "junk", "lines", "upper", "outputs"]

mutations: st.SearchStrategy[list[Mutation]] = st.lists(
    st.tuples(
        st.sampled_from([*STRUCTURE, *METADATA, *SOURCES, "insert", "not a cell"]),
        st.integers(0, 200),
        st.integers(0, 200),
        st.sampled_from([*JUNK, *KINDS, *VALUES]),
    ),
    max_size=14,
)

#: What may happen to the bytes of the file: a name, a place in it in thousandths, and a byte.
damage = st.one_of(
    st.none(),
    st.tuples(
        st.sampled_from(["cut", "flip", "drop", "conflict", "utf-16", "bom", "crlf", "latin", "twice"]),
        st.integers(0, 1000),
        st.integers(0, 255),
    ),
)


def mutate(cells: Cells, drawn: list[Mutation]) -> None:
    """Apply mutations in place; one that does not fit does nothing."""
    for kind, where, other, value in drawn:
        if kind == "insert":
            made = {"cell_type": "code", "metadata": {}, "source": value if isinstance(value, str) else ""}
            cells.insert(where % (len(cells) + 1), made)
        if not cells:
            continue
        at, second = where % len(cells), other % len(cells)
        if kind in _STRUCTURE:
            _STRUCTURE[kind](cells, at, second, value)
        elif isinstance(cells[at], dict):
            _change(cells[at], kind, cells[second], other, value)


def _merge(cells: Cells, at: int, second: int, value: Any) -> None:
    if at != second and isinstance(cells[at], dict) and isinstance(cells[second], dict):
        cells[at]["source"] = f"{cells[at].get('source')}\n{cells[second].get('source')}"
        del cells[second]


def _split(cells: Cells, at: int, second: int, value: Any) -> None:
    if isinstance(cells[at], dict):
        lines = str(cells[at].get("source")).split("\n")
        rest = copy.deepcopy(cells[at])
        middle = second % (len(lines) + 1)
        cells[at]["source"], rest["source"] = "\n".join(lines[:middle]), "\n".join(lines[middle:])
        cells.insert(at + 1, rest)


def _swap(cells: Cells, at: int, second: int, value: Any) -> None:
    cells[at], cells[second] = cells[second], cells[at]


def _not_a_cell(cells: Cells, at: int, second: int, value: Any) -> None:
    cells[at] = value


_STRUCTURE: dict[str, Callable[[Cells, int, int, Any], object]] = {
    "delete": lambda cells, at, second, value: cells.pop(at),
    "double": lambda cells, at, second, value: cells.insert(second, copy.deepcopy(cells[at])),
    "move": lambda cells, at, second, value: cells.insert(second, cells.pop(at)),
    "merge": _merge,
    "split": _split,
    "swap": _swap,
    "not a cell": _not_a_cell,
}


def _change(cell: dict[str, Any], kind: str, second: Any, other: int, value: Any) -> None:
    metadata = cell.get("metadata")
    about = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    if kind in METADATA:
        if kind == "strip":
            cell["metadata"] = value if other % 2 else {}
        elif kind == "retype":
            cell["cell_type"] = value
        elif kind == "id":
            cell["id"] = value
        elif isinstance(metadata, dict) and kind == "strip nbgrader":
            metadata.pop("nbgrader", None)
        elif isinstance(metadata, dict) and kind == "tags":
            metadata["tags"] = ["skip-execution", "illustration", value]
        elif isinstance(about, dict) and kind == "flag":
            about[FLAGS[other % len(FLAGS)]] = value
        elif (
            isinstance(about, dict) and isinstance(second, dict) and isinstance(second.get("metadata"), dict)
        ):
            stolen = second["metadata"].get("nbgrader")
            about["grade_id"] = stolen.get("grade_id") if isinstance(stolen, dict) else value
        return
    lines = str(cell.get("source", "")).split("\n")
    at = other % len(lines)
    if kind == "outputs":
        cell["outputs"] = [value, {"output_type": "execute_result", "data": {"text/plain": "20.0"}}]
    elif kind == "lines":
        cell["source"] = (
            [f"{line}\n" for line in lines[:-1]] + lines[-1:] + ([value] if other % 3 == 0 else [])
        )
    elif kind == "junk":
        cell["source"] = value
    elif kind == "join sources" and isinstance(second, dict):
        cell["source"] = second.get("source")
    elif kind in SOURCES:
        lines[at : at + 1] = {
            "cut": lines[at : at + 1] if at == len(lines) - 1 else [],
            "junk line": [lines[at], str(value).encode("utf-8", "replace").decode()],
            "drop line": [],
            "comment": [f"# {lines[at]}"],
            "indent": [f"  {lines[at]}"],
            "upper": [lines[at].upper()],
        }[kind]
        cell["source"] = "\n".join(lines[:at] if kind == "cut" else lines)


def damaged(data: Any, drawn: tuple[str, int, int] | None) -> bytes:
    """The bytes of a file, with what happened to them."""
    raw = json.dumps(data, indent=1).encode()
    if drawn is None:
        return raw
    kind, thousandth, byte = drawn
    at = len(raw) * thousandth // 1000
    line = raw.rfind(b"\n", 0, at) + 1
    end = raw.find(b"\n", line) + 1 or len(raw)
    conflict = b"<<<<<<< HEAD\n" + raw[line:end] + b"=======\n" + raw[line:end] + b">>>>>>> other\n"
    changed = {
        "cut": raw[:at],
        "flip": raw[:at] + bytes([byte]) + raw[at + 1 :],
        "drop": raw[:at] + raw[at + byte :],
        "conflict": raw[:line] + conflict + raw[end:],
        "bom": b"\xef\xbb\xbf" + raw,
        "crlf": raw.replace(b"\n", b"\r\n"),
        "latin": raw[:at] + "é".encode("latin-1") + raw[at:],
        "twice": raw + raw,
    }
    return changed[kind] if kind in changed else raw.decode().encode("utf-16")

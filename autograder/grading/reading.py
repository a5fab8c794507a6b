"""Read a submitted notebook as data, whatever state it is in. Nothing in it is trusted or executed."""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass
from typing import Any

from autograder.grading.salvage import salvage
from autograder.grading.skimming import MOST_LEFT, MOST_PARTS, has_too_many_parts, separators, skim

_SOURCE_LIMIT = 500_000
_CELL_LIMIT = 2_000
_OUTPUTS_LIMIT = 500
_FILE_LIMIT = 128 << 20
#: Outputs are walked, compared and written again by code that calls itself; an honest one is five deep.
_DEPTH_LIMIT = 50
_ARCHIVES = (b"PK\x03\x04", b"\x1f\x8b", b"7z\xbc\xaf", b"Rar!", b"BZh", b"\xfd7zXZ")


@dataclass(frozen=True)
class StudentCell:
    """One cell as submitted: its type, text, outputs and the grade_id that its metadata claims."""

    cell_type: str
    source: str
    grade_id: str | None
    #: As stored in the file: unchecked JSON values.
    outputs: tuple[Any, ...] = ()


def read_notebook(raw: bytes) -> tuple[list[StudentCell], list[str]]:
    """The cells of a notebook file, and what had to be mended to read them, as sentences.

    Never raises: a file that is no notebook gives no cells and a sentence that says so.
    """
    notes: list[str] = []
    if not raw.strip():
        return [], ["The submitted file is empty; it was graded as a notebook without answers."]
    if len(raw) > _FILE_LIMIT:
        return [], [f"The submitted file is larger than {_FILE_LIMIT >> 20} MiB and was not read."]
    if raw.startswith(_ARCHIVES):
        return [], ["The submitted file is a compressed archive, not a notebook; no answer was found in it."]
    raw = _skimmed(raw, notes)
    if len(raw) > MOST_LEFT:
        return [], [
            *notes,
            f"The submitted file holds more than {MOST_LEFT >> 20} MiB besides its outputs and was not read. "
            "Take data and pictures out of the notebook's cells, then hand it in again.",
        ]
    if _has_too_many_parts(raw):
        return [], [
            *notes,
            "The submitted file has too many parts to be a notebook and was not read. "
            "Clear all outputs of the notebook, then hand it in again.",
        ]
    text = encodable(_text(raw, notes))
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        found = salvage(text, line)
        if found is None:
            return [], [*notes, f"{_what_it_is(raw, line)}; no answer was found in it."]
        data, said = found
        notes.append(said)
    if not isinstance(data, dict):
        return [], [*notes, "The submitted file is JSON but not a notebook; no answer was found in it."]
    cells = data.get("cells")
    if not isinstance(cells, list):
        cells = _older(data)
        if cells is None:
            return [], [*notes, "The submitted file has no cells; no answer was found in it."]
        notes.append("The notebook is in an old format (3 or earlier); it was converted.")
    if not cells:
        notes.append("The notebook has no cells; no answer was found in it.")
    if len(cells) > _CELL_LIMIT:
        notes.append(f"The notebook has {len(cells)} cells; only the first {_CELL_LIMIT} were read.")
    read = [_cell(cell, number, notes) for number, cell in enumerate(cells[:_CELL_LIMIT], 1)]
    return [cell for cell in read if cell is not None], notes


def _skimmed(raw: bytes, notes: list[str]) -> bytes:
    """The file, without the large outputs of a huge one."""
    skimmed = skim(raw)
    if skimmed.left_out:
        notes.append(
            f"The file is very large: outputs and pasted pictures of more than {skimmed.limit >> 10} KiB "
            f"were left out of it ({skimmed.left_out}). No answer stands in them."
        )
    return skimmed.raw


def _has_too_many_parts(raw: bytes) -> bool:
    if raw.startswith(tuple(mark for mark, _ in _WIDE)):
        return separators(raw) > MOST_PARTS  # in two bytes, where a text ends cannot be told
    return has_too_many_parts(raw)


def _what_it_is(raw: bytes, line: int) -> str:
    if re.match(rb"[\xef\xbb\xbf\s]*<[!?a-zA-Z]", raw[:200]):
        return "The submitted file is a web page, not a notebook"
    return f"The submitted file is not a readable notebook (line {line})"


#: A file that begins so is in that encoding: with a byte order mark, or with a brace in two bytes.
_WIDE = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"{\x00", "utf-16-le"),
    (b"\x00{", "utf-16-be"),
)


def _text(raw: bytes, notes: list[str]) -> str:
    for mark, name in _WIDE:
        if raw.startswith(mark):
            notes.append(f"The file is in {name[:6].upper()}; it was read as such.")
            return raw.decode(name, "replace")
    if raw.startswith(codecs.BOM_UTF8):
        notes.append("The file begins with a byte order mark; it was left out.")
        raw = raw[len(codecs.BOM_UTF8) :]
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        notes.append("The file is not valid UTF-8; characters that could not be read were replaced.")
        return raw.decode("utf-8", "replace")


#: Half of a character that JSON writes in two escapes, without its other half.
_HALF = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
#: Stands for an escaped backslash, which begins no escape; no decoded text holds half a character.
_BACKSLASH = "\udfff"


def encodable(text: str) -> str:
    """JSON text whose strings and keys can all be encoded: half a character becomes a question mark.

    Only escapes can make one: what is not valid in the file's own encoding was replaced before.
    """
    if _HALF.search(text) is None:
        return text
    text = text.replace("\\\\", _BACKSLASH)
    return _HALF.sub("?", text).replace(_BACKSLASH, "\\\\")


def _older(data: dict[str, Any]) -> list[Any] | None:
    """The cells of a version 3 notebook, with the keys of version 4."""
    sheets = data.get("worksheets")
    if not isinstance(sheets, list):
        return None
    cells: list[Any] = []
    for sheet in sheets:
        inside = sheet.get("cells") if isinstance(sheet, dict) else None
        for cell in inside if isinstance(inside, list) else []:
            if isinstance(cell, dict):
                kind = cell.get("cell_type")
                source = cell.get("input", "") if kind == "code" else cell.get("source", "")
                if kind == "heading":
                    kind = "markdown"
                cells.append({**cell, "cell_type": kind, "source": _lines(source)})
    return cells


def _lines(source: Any) -> Any:
    """Lines of version 3, which were written with or without their ends."""
    if isinstance(source, list) and source and all(isinstance(line, str) for line in source):
        return ("" if source[0].endswith(("\n", "\r")) else "\n").join(source)
    return source


def _cell(cell: Any, number: int, notes: list[str]) -> StudentCell | None:
    if not isinstance(cell, dict):
        notes.append(f"Cell {number} is not a cell; it was left out.")
        return None
    kind = cell.get("cell_type")
    if kind not in ("code", "markdown", "raw"):
        notes.append(f"Cell {number} has an unknown type; it was read as text.")
        kind = "raw"
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        notes.append(f"Cell {number} has no readable text; it was left empty.")
        source = ""
    if len(source) > _SOURCE_LIMIT:
        notes.append(f"Cell {number} holds more than {_SOURCE_LIMIT} characters; the rest was cut.")
        source = source[:_SOURCE_LIMIT]
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    outputs = cell.get("outputs") if kind == "code" else None
    return StudentCell(
        kind,
        source,
        grade_id if isinstance(grade_id, str) and grade_id else None,
        tuple(one for one in outputs[:_OUTPUTS_LIMIT] if _is_flat(one)) if isinstance(outputs, list) else (),
    )


def _is_flat(output: Any) -> bool:
    """Whether nothing in an output is nested deeper than its readers can follow."""
    level = [output]
    for _ in range(_DEPTH_LIMIT):
        inner = [
            one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)
        ]
        level = [each for one in inner for each in one]
        if not level:
            return True
    return False

"""Outputs of student code, made safe to show: plain text and pictures, nothing that a browser runs."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from autograder.grading.picture_size import is_reasonable, picture_size

_PICTURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
#: Terminal escapes, whole or broken off, except colours.
_ESCAPE = re.compile(r"\x1b(?!\[[0-9;]*m)(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])?")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
#: Outputs of a cell that are kept, and the bytes that each counts as at least, so that 16 MiB hold two
#: thousand: nbformat takes 0.1 ms and 5 kB for each. A notebook of our solutions has at most 37.
_MOST_OUTPUTS, _FRAME = 500, 8_192
_REST = "[The rest of the outputs is not kept here: there were too many, or they were too large.]\n"
_HIDDEN = "[A part of this output can not be shown here.]"


def safe_text(text: Any, limit: int = 1 << 20) -> str:
    """Text without control characters; of the terminal escapes only colours stay."""
    if not isinstance(text, str):
        return ""
    kept = _CONTROL.sub("", _ESCAPE.sub("", text[: 2 * limit]))
    return kept if len(kept) <= limit else kept[:limit] + "\n[cut]\n"


def safe_outputs(outputs: list[Any], budget: int) -> tuple[list[dict[str, Any]], int]:
    """nbformat 4 outputs built anew from what a sandbox sent, and the budget of bytes left."""
    shown: list[dict[str, Any]] = []
    for number, output in enumerate(outputs):
        if budget <= 0 or number == _MOST_OUTPUTS:
            shown.append({"output_type": "stream", "name": "stdout", "text": _REST})
            break
        made = _output(output, min(budget, 1 << 21)) if isinstance(output, dict) else None
        if made is not None:
            shown.append(made)
            budget -= max(_size(made), _FRAME)
    return shown, budget


def _output(output: dict[str, Any], limit: int) -> dict[str, Any] | None:
    kind = output.get("output_type")
    if not isinstance(kind, str):  # an array's comparison with a word is no bool
        return None
    if kind == "stream":
        said = output.get("name")
        name = "stderr" if isinstance(said, str) and said == "stderr" else "stdout"
        return {"output_type": "stream", "name": name, "text": safe_text(output.get("text"), limit)}
    if kind == "error":
        lines = output.get("traceback")
        lines = lines if isinstance(lines, list) else []
        return {
            "output_type": "error",
            "ename": safe_text(output.get("ename"), 200),
            "evalue": safe_text(output.get("evalue"), 2_000),
            "traceback": _lines(lines[:200], min(limit, 100_000)),
        }
    if kind in ("display_data", "execute_result"):
        bundle = output.get("data")
        data = _bundle(bundle if isinstance(bundle, dict) else {}, limit)
        made: dict[str, Any] = {"output_type": kind, "data": data, "metadata": {}}
        if kind == "execute_result":
            made["execution_count"] = None
        return made
    return None


def _lines(lines: list[Any], room: int) -> list[str]:
    """The lines of a traceback, together up to `room` characters."""
    kept: list[str] = []
    for line in lines:
        if room <= 0:
            break
        kept.append(safe_text(line, min(20_000, room)))
        room -= len(kept[-1])
    return kept


def _bundle(bundle: dict[Any, Any], limit: int) -> dict[str, str]:
    data: dict[str, str] = {}
    text = bundle.get("text/plain")
    if isinstance(text, str):
        data["text/plain"] = safe_text(text, limit)
    for mime, magic in _PICTURES.items():
        picture = bundle.get(mime)
        if isinstance(picture, str) and len(picture) <= limit:
            try:
                raw = base64.b64decode("".join(picture.split()), validate=True)
            except (binascii.Error, ValueError):
                continue
            sides = picture_size(raw) if raw.startswith(magic) else None
            if sides is not None and is_reasonable(sides):
                data[mime] = base64.b64encode(raw).decode("ascii")
            elif sides is not None:
                data["text/plain"] = f"[A picture of {sides[0]} by {sides[1]} pixels cannot be shown here.]"
    return data or {"text/plain": _HIDDEN}


def _size(output: dict[str, Any]) -> int:
    """Bytes of an output's texts."""
    if output["output_type"] == "stream":
        texts = [output["text"]]
    elif output["output_type"] == "error":
        texts = output["traceback"]
    else:
        texts = output["data"].values()
    return sum(len(text.encode("utf-8", "replace")) for text in texts)

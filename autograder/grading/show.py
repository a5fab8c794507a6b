"""Outputs of student code, made safe to show: plain text and pictures, nothing that a browser runs."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from autograder.grading.picture_size import is_reasonable, picture_size

_PICTURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_HIDDEN = "[A part of this output can not be shown here.]"


def safe_text(text: Any, limit: int = 1 << 20) -> str:
    """Text without control characters; of the terminal escapes only colours stay."""
    if not isinstance(text, str):
        return ""
    text = text[: 2 * limit]
    kept = _ESCAPE.sub(lambda match: match[0] if _COLOUR.fullmatch(match[0]) else "", text)
    kept = "".join(part if _COLOUR.fullmatch(part) else part.replace("\x1b", "") for part in _split(kept))
    kept = _CONTROL.sub("", kept)
    return kept if len(kept) <= limit else kept[:limit] + "\n[cut]\n"


def safe_outputs(outputs: list[Any], budget: int) -> tuple[list[dict[str, Any]], int]:
    """nbformat 4 outputs built anew from what a sandbox sent, and the budget of characters left."""
    shown: list[dict[str, Any]] = []
    for output in outputs[:500]:
        made = _output(output, min(budget, 1 << 21)) if isinstance(output, dict) and budget > 0 else None
        if made is not None:
            shown.append(made)
            budget -= _size(made)
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
            "traceback": [safe_text(line, 20_000) for line in lines[:200]],
        }
    if kind in ("display_data", "execute_result"):
        bundle = output.get("data")
        data = _bundle(bundle if isinstance(bundle, dict) else {}, limit)
        made: dict[str, Any] = {"output_type": kind, "data": data, "metadata": {}}
        if kind == "execute_result":
            made["execution_count"] = None
        return made
    return None


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
                data["text/plain"] = f"[A picture of {sides[0]} by {sides[1]} pixels can not be shown here.]"
    return data or {"text/plain": _HIDDEN}


def _size(output: dict[str, Any]) -> int:
    if output["output_type"] == "stream":
        return len(output["text"]) + 1
    if output["output_type"] == "error":
        return sum(map(len, output["traceback"])) + 1
    return sum(map(len, output["data"].values())) + 1


def _split(text: str) -> list[str]:
    parts: list[str] = []
    last = 0
    for match in _COLOUR.finditer(text):
        parts += [text[last : match.start()], match[0]]
        last = match.end()
    parts.append(text[last:])
    return parts

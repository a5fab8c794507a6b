"""Submissions that are too large somewhere: the file, its parts, a cell, the outputs, a text on the page."""

from __future__ import annotations

from typing import Any

from .case import Data, Odd, cell, own
from .cells import ANSWER
from .files import NOTHING, raw

LEFT_OUT = (
    "The file is very large: outputs and pasted pictures of more than 1024 KiB were left out of it ({}). "
    "No answer stands in them."
)
#: A file that is not parsed: no answer of it is found.
MANY_PARTS = (
    "The submitted file has too many parts to be a notebook and was not read. "
    "Clear all outputs of the notebook, then hand it in again."
)
HUGE = (
    "The submitted file holds more than 16 MiB besides its outputs and was not read. "
    "Take data and pictures out of the notebook's cells, then hand it in again."
)


def huge(data: Data) -> None:
    """50 MB of outputs in the answer cell."""
    text = {"output_type": "stream", "name": "stdout", "text": "x" * 5_000_000}
    cell(data, ANSWER)["outputs"] = [text] * 10


def commas(data: Data) -> None:
    """A table that was printed whole, as Jupyter keeps it: a text a line."""
    text = {"output_type": "stream", "name": "stdout", "text": ["0, 1, 2, 3, 4, 5, 6, 7\n"] * 200_000}
    cell(data, ANSWER)["outputs"] = [text] * 10


def pasted(data: Data) -> None:
    for one in data["cells"][:20]:
        if one["cell_type"] == "markdown":
            one["attachments"] = {"a.png": {"image/png": "A" * 8_000_000}}


def own_cells(*sources: str, kind: str = "code") -> Any:
    """Cells of the student's own above the first answer."""
    return lambda data: data["cells"].__setitem__(slice(2, 2), [own(source, kind) for source in sources])


def outputs_deep(data: Data) -> None:
    deep: Any = []
    for _ in range(400):
        deep = [deep]
    cell(data, ANSWER)["outputs"] = [{"output_type": "display_data", "data": deep}]


#: HTML's rules open each bold element anew in each paragraph: a tree of 2 GB.
BOLD = "".join(f"<b a={number}>" for number in range(900)) + "<p>x" * 2_000
#: Python's compiler looks at each name for each function.
NAMES = "def f():\n " + ";".join(f"a{n:04}=1" for n in range(6_000)) + "\n (" + "lambda:0," * 6_000 + ")"


SIZES = [
    Odd("50 MB of outputs", huge, said=(LEFT_OUT.format(10),)),
    Odd("printed commas in 50 MB of outputs", commas, said=(LEFT_OUT.format(10),)),
    Odd("pasted pictures of 40 MB", pasted, said=(LEFT_OUT.format(7),)),
    Odd("ten million parts", encode=raw(b'{"cells": [' + b"[]," * 4_900_000 + b"[]]}"), lost=NOTHING,
        said=(MANY_PARTS,)),
    Odd("100 MB in one text", encode=raw(b'{"cells": ["\xf0\x9f\x98\x80' + b"x" * 100_000_000 + b'"]}'), lost=NOTHING,
        said=(HUGE,)),
    Odd("names and functions in the square", own_cells(NAMES, NAMES.replace("f()", "g()"))),
    Odd("a dozen cells of 20 000 characters", own_cells(*(f"x{n} = [" + "1, " * 6_600 + "]" for n in range(12)))),
    Odd("bold that never ends in a text", own_cells(*[BOLD] * 12, kind="markdown")),
    Odd("1 800 cells of the student's own", own_cells(*(f"b{number} = {number}" for number in range(1_800)))),
    Odd("cells that put out 500 times", own_cells(*["from IPython.display import display\n"
        "for _ in range(600): display(1)"] * 6), shows="The rest of the outputs is not kept here"),
    Odd("a picture of 100 000 by 100 000 pixels", own_cells(
        "import struct\nfrom IPython.display import display\n"
        "size = struct.pack('>I4sII', 13, b'IHDR', 100_000, 100_000)\n"
        "display({'image/png': b'\\x89PNG\\r\\n\\x1a\\n' + size}, raw=True)"),
        shows="[A picture of 100000 by 100000 pixels cannot be shown here.]"),
    Odd("an output nested 400 deep", outputs_deep),
]  # fmt: skip

"""Submissions in which something lies where something else should, or which cannot be put into one folder."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from .case import NOTEBOOK, Odd, cell, under
from .cells import ANSWER, each
from .files import CALLED, NONE_SUBMITTED, NOTHING, also

HALF = "\ud83d"


def notebook_as_a_folder(folder: Path, content: bytes) -> None:
    """The course's name is a folder's, with a file in it, and the work has another name."""
    also({f"{NOTEBOOK}/data.csv": b"1"}, own="other.ipynb")(folder, content)


def folder_alone(folder: Path, content: bytes) -> None:
    (folder / NOTEBOOK).mkdir()


def time_as_a_folder(folder: Path, content: bytes) -> None:
    also({"timestamp.txt/x": b"1"})(folder, content)


def dangling(folder: Path, content: bytes) -> None:
    under(NOTEBOOK)(folder, content)
    (folder / "timestamp.txt").symlink_to("/nowhere")
    (folder / "data.csv").symlink_to("nowhere")


def circle(folder: Path, content: bytes) -> None:
    under(NOTEBOOK)(folder, content)
    (folder / "again").symlink_to(folder, target_is_directory=True)


def bound_socket(folder: Path, content: bytes) -> None:
    under(NOTEBOOK)(folder, content)
    before = os.getcwd()
    os.chdir(folder)  # a socket's path has a hundred letters at most
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("sock")
    finally:
        os.chdir(before)


def pipe_as_the_notebook(folder: Path, content: bytes) -> None:
    os.mkfifo(folder / NOTEBOOK)


def left_out(name: str, kind: str) -> str:
    return f"'{name}' is a {kind}; it was not followed and was left out."


NOT_ALLOWED = "The file '{}' has a name that is not allowed; it was left out."

PLACES = [
    Odd("folder of the notebook's name beside the work", lay=notebook_as_a_folder, said=(
        CALLED.format("other.ipynb"),
        f"'{NOTEBOOK}' is a folder; what lies in it was left out: '{NOTEBOOK}/data.csv'.")),
    Odd("empty folder of the notebook's name", lay=folder_alone, lost=NOTHING, said=(NONE_SUBMITTED,)),
    Odd("timestamp.txt is a folder", lay=time_as_a_folder),
    Odd("links to nowhere", lay=dangling, said=(left_out("data.csv", "link"),)),
    Odd("link to its own folder", lay=circle, said=(left_out("again", "link"),)),
    Odd("socket beside it", lay=bound_socket, said=(left_out("sock", "special file"),)),
    Odd("pipe of the notebook's name", lay=pipe_as_the_notebook, lost=NOTHING, said=(
        left_out(NOTEBOOK, "special file"), NONE_SUBMITTED)),
    Odd("three hundred files before it", lay=also({f"a{number:03}": b"" for number in range(300)}),
        said=("More than 200 files were handed in; the rest was left out.",)),
    Odd("name of 255 letters beside it", lay=also({"n" * 255: b"1"}), said=(NOT_ALLOWED.format("n" * 120),)),
    Odd("name in Latin-1 beside it", lay=also({os.fsdecode(b"latin-\xe9"): b"1"}), said=(NOT_ALLOWED.format("latin-?"),)),
    Odd("name with an escape sequence beside it", lay=also({"a\x1b[31mred": b"1"}), said=(NOT_ALLOWED.format("a?[31mred"),)),
    Odd("names that differ in case or accents", lay=also(
        {"A.csv": b"1", "a.csv": b"2", "\u00e9.csv": b"3", "e\u0301.csv": b"4"})),
    Odd("names of Windows beside it", lay=also({"C:\\x.csv": b"1", "..\\x.csv": b"2", "nul.": b"3"})),
    Odd("feedback page of its own, read-only", lay=also({"convolution.html": b"<script>alert(1)</script>"})),
    Odd("half a character in outputs, keys and metadata", each(lambda one: one.update(
        outputs=[{"output_type": f"x{HALF}", HALF: {HALF: [HALF]}}], metadata={**one["metadata"], HALF: HALF})
        if one["cell_type"] == "code" else one["metadata"].update({HALF: HALF}))),
    Odd("half a character in a grade_id", lambda data: data["cells"].append(
        {**cell(data, ANSWER), "source": "1", "metadata": {"nbgrader": {"grade_id": f"x{HALF}", "solution": True,
                                                                         "schema_version": 3}}})),
]  # fmt: skip

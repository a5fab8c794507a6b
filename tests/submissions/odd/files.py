"""Submissions whose file is damaged, in another format or encoding, or not where and how it should be."""

from __future__ import annotations

import gzip
import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

from autograder.results import Outcome

from .case import FULL, WRITTEN, Data, Encode, Lay, Odd, as_json, cell, place, sheet, under
from .cells import ANSWER, COURSE_CELLS, LOST_ANSWER, each, lost_metadata, missing

NOTHING = dict.fromkeys(FULL, Outcome.NOT_ATTEMPTED)
NO_ANSWER = "no answer was found in it."
NONE_SUBMITTED = "No notebook was submitted; nothing could be graded."
IDS = [one.grade_id for one in sheet().template.cells]


def pretty(data: Data) -> bytes:
    """As Jupyter writes it."""
    return (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode()


def raw(content: bytes) -> Encode:
    return lambda data: content


def nested(data: Data) -> bytes:
    return b'{"cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


# ---- formats ----


def version_3(data: Data) -> None:
    cells = []
    for one in data.pop("cells"):
        text = one.pop("source").splitlines(keepends=True)
        cells.append({**one, "input" if one["cell_type"] == "code" else "source": text, "language": "python"})
    data |= {"nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": cells, "metadata": {}}]}


def version_4_0(data: Data) -> None:
    data["nbformat_minor"] = 0
    each(lambda one: one.pop("id", None))(data)


def version_5(data: Data) -> None:
    data |= {"nbformat": 5, "nbformat_minor": 1, "generator": "a later Jupyter"}
    each(lambda one: one.update(role="cell", tags=[]))(data)


def colab(data: Data) -> None:
    """Colab keeps the texts, writes its own metadata, and knows no nbgrader."""
    data["metadata"] = {
        "colab": {"provenance": []},
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
    }
    version_4_0(data)
    for number, one in enumerate(data["cells"]):
        one["metadata"] = {"id": f"A{number}xYz", "colab": {"base_uri": "https://localhost:8080/"}}
        one["source"] = one["source"].splitlines(keepends=True)


def vs_code(data: Data) -> None:
    data["metadata"]["language_info"] = {"name": "python", "version": "3.12.1"}
    data["nbformat_minor"] = 2
    for one in data["cells"]:
        one.pop("id", None)
        one["metadata"] = {"vscode": {"languageId": "python"}} if one["cell_type"] == "code" else {}
        one["source"] = one["source"].rstrip().splitlines(keepends=True)


def script_and_back(data: Data) -> None:
    """Through `jupyter nbconvert --to script` and back: the texts of code cells, and nothing else."""
    data["cells"] = [
        {"cell_type": "code", "metadata": {}, "source": one["source"], "outputs": [], "execution_count": None}
        for one in data["cells"]
        if one["cell_type"] == "code"
    ]


def kernel(name: str, language: str) -> Any:
    spec = {"name": name, "language": language, "display_name": name}
    return lambda data: data["metadata"].update(kernelspec=spec, language_info={"name": language})


# ---- damage ----


def conflict(data: Data) -> bytes:
    """A merge that was committed as it stood: two sides of one answer."""
    text = pretty(data).decode()
    line = next(one for one in text.splitlines() if "def output_size" in one)
    other = line.replace("def output_size", "# theirs\\ndef output_size")
    both = f"<<<<<<< HEAD\n{line}\n=======\n{other}\n>>>>>>> theirs"
    return text.replace(line, both, 1).encode()


def conflict_without_end(data: Data) -> bytes:
    return pretty(data).replace(b'"cells": [\n', b'"cells": [\n<<<<<<< HEAD\n', 1)


def cut_after(grade_id: str) -> Encode:
    """The file as a full disk leaves it: it ends in the middle of the cell after this one."""

    def encode(data: Data) -> bytes:
        number = place(data, grade_id) + 1
        start = (
            pretty(data).decode().index(json.dumps(data["cells"][number]["source"], ensure_ascii=False)[:40])
        )
        return pretty(data).decode()[: start + 20].encode()

    return encode


def outputs(*made: Any) -> Any:
    return each(lambda one: one.update(outputs=list(made)) if one["cell_type"] == "code" else None)


def line(encode: Encode, before: bytes) -> int:
    """The line of a damaged file on which `before` stands for the first time."""
    whole = encode(sheet().notebook({"equivariance_written": WRITTEN}))
    return whole[: whole.index(before) if before else len(whole)].count(b"\n") + 1


# ---- the folder ----


def zipped(folder: Path, content: bytes) -> None:
    with zipfile.ZipFile(folder / "submission.zip", "w") as archive:
        archive.writestr("convolution.ipynb", content)


def bomb(folder: Path, content: bytes) -> None:
    """100 MB of zeros in 100 kB, under the notebook's own name."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a", "w") as file:
        for _ in range(100):
            file.write(bytes(1 << 20))
    (folder / "convolution.ipynb").write_bytes(packed.getvalue())


def link(folder: Path, content: bytes) -> None:
    elsewhere = folder.parent / f"{folder.name}-elsewhere.ipynb"
    elsewhere.write_bytes(content)
    (folder / "convolution.ipynb").symlink_to(elsewhere)


def link_beside(folder: Path, content: bytes) -> None:
    (folder / "convolution.ipynb").write_bytes(content)
    (folder / "data").symlink_to("/etc", target_is_directory=True)
    (folder / "zero").symlink_to("/dev/zero")


def pipe(folder: Path, content: bytes) -> None:
    (folder / "convolution.ipynb").write_bytes(content)
    os.mkfifo(folder / "pipe")


def also(names: dict[str, bytes], own: str = "convolution.ipynb") -> Lay:
    """The notebook, and other files beside it."""

    def lay(folder: Path, content: bytes) -> None:
        for name, data in {own: content, **names}.items():
            under(name)(folder, data)

    return lay


def nothing(folder: Path, content: bytes) -> None: ...


CALLED = "The notebook was called '{}'; it was taken for 'convolution.ipynb'."
HOLDS = "The file '{}' holds a notebook; it was taken for 'convolution.ipynb'."
UNREADABLE = f"The submitted file is not a readable notebook (line {{}}); {NO_ANSWER}"
WHOLE = IDS.index("max_pool")
SCRIPT = "\n".join(sheet().solutions.values()).encode()

FORMATS = [
    Odd("nbformat 3", version_3, said=("The notebook is in an old format (3 or earlier); it was converted.",)),
    Odd("nbformat 4.0 without ids", version_4_0),
    Odd("nbformat 4.5 with the same id everywhere", each(lambda one: one.update(id="x"))),
    Odd("nbformat 5 with unknown fields", version_5),
    Odd("nbformat missing", lambda data: [data.pop("nbformat"), data.pop("nbformat_minor")]),
    Odd("through Colab", colab, said=lost_metadata(COURSE_CELLS)),
    Odd("through VS Code without metadata", vs_code, said=lost_metadata(COURSE_CELLS)),
    Odd("through a script and back", script_and_back, said=(
        f"The metadata of {sum(one.role.value in ('locked', 'checks') and one.cell_type == 'code' for one in sheet().template.cells)} cells was lost; they were recognised by their text.",
        *(LOST_ANSWER.format(name, [one.grade_id for one in sheet().template.cells
                                    if one.cell_type == "code"].index(name) + 1)
          for name in ("dense_parameters", "output_size", "max_pool")),
        *(f"The {'answer cell' if one.grade_id.endswith('_written') else 'cell'} '{one.grade_id}' was missing "
          "and was put back." for one in sheet().template.cells if one.cell_type == "markdown"))),
    Odd("kernelspec of R", kernel("ir", "R")),
    Odd("kernelspec of python2", kernel("python2", "python")),
    Odd("kernelspec of a virtual environment", kernel("my-venv (3.12)", "python")),
    Odd("outputs of no known type", outputs({"output_type": "hologram"}, 7, None, {"text": 3})),
    Odd("outputs with a script", outputs(
        {"output_type": "display_data", "metadata": {}, "data": {"text/html": "<script>alert(1)</script>"}})),
]  # fmt: skip

DAMAGED = [
    Odd("empty file", encode=raw(b""), lost=NOTHING,
        said=("The submitted file is empty; it was graded as a notebook without answers.",)),
    Odd("blanks only", encode=raw(b" \r\n\t"), lost=NOTHING,
        said=("The submitted file is empty; it was graded as a notebook without answers.",)),
    Odd("cut off after two answers", encode=cut_after("max_pool_statement"), lost={"max_pool": Outcome.NOT_ATTEMPTED}, said=(
            f"The file is damaged (line {line(cut_after('max_pool_statement'), b'')}); the {WHOLE} cells that are whole were read.",
            "The answer cell 'max_pool' was missing and was put back.",
            *missing("max_pool_visible", "max_pool_checks", "equivariance_question"),
            "The answer cell 'equivariance_written' was missing and was put back.")),
    Odd("cut off at the first byte", encode=raw(b"{"), lost=NOTHING, said=(UNREADABLE.format(1),)),
    Odd("merge conflict in an answer", encode=conflict,
        said=(f"The file holds a merge conflict (line {line(conflict, b'<<<<')}); the upper side of each was read.",)),
    Odd("merge-conflict marker without an end", encode=conflict_without_end,
        said=("The file holds a merge conflict (line 3); the upper side of each was read.",)),
    Odd("comma missing between two cells", encode=lambda data: pretty(data).replace(b"  },\n  {", b"  }\n  {", 1),
        said=(f"The file is damaged (line 22); the {len(IDS)} cells that are whole were read.",)),
    Odd("byte order mark", encode=lambda data: b"\xef\xbb\xbf" + as_json(data),
        said=("The file begins with a byte order mark; it was left out.",)),
    Odd("UTF-16", encode=lambda data: pretty(data).decode().encode("utf-16"),
        said=("The file is in UTF-16; it was read as such.",)),
    Odd("UTF-16 without a mark", encode=lambda data: pretty(data).decode().encode("utf-16-be"),
        said=("The file is in UTF-16; it was read as such.",)),
    Odd("Latin-1", lambda data: cell(data, ANSWER).update(source="# é\n" + cell(data, ANSWER)["source"]),
        encode=lambda data: json.dumps(data, ensure_ascii=False).encode("latin-1", "replace"),
        said=("The file is not valid UTF-8; characters that could not be read were replaced.", *(
            f"The course's cell '{name}' had been edited and was restored." for name in (
                "counting_text", "dense_parameters_statement", "output_size_statement", "max_pool_statement",
                "equivariance_question")))),
    Odd("CRLF", each(lambda one: one.update(source=one["source"].replace("\n", "\r\n"))),
        encode=lambda data: pretty(data).replace(b"\n", b"\r\n")),
    Odd("lone surrogates", lambda data: cell(data, ANSWER).update(
        source="# \ud800\n" + cell(data, ANSWER)["source"], outputs=[{"output_type": "stream", "text": "\udfff"}])),
    Odd("nested without end", encode=nested, lost=NOTHING, said=(UNREADABLE.format(1),)),
    Odd("JSON of something else", encode=raw(b'["a", "list"]'), lost=NOTHING,
        said=(f"The submitted file is JSON but not a notebook; {NO_ANSWER}",)),
    Odd("web page", encode=raw(b"<!DOCTYPE html>\n<html><body>convolution.ipynb</body></html>"), lost=NOTHING,
        said=(f"The submitted file is a web page, not a notebook; {NO_ANSWER}",)),
    Odd("Python script under the notebook's name", encode=raw(SCRIPT), lost=NOTHING, said=(UNREADABLE.format(1),)),
    Odd("compressed under the notebook's name", encode=lambda data: gzip.compress(as_json(data)), lost=NOTHING,
        said=(f"The submitted file is a compressed archive, not a notebook; {NO_ANSWER}",)),
    Odd("zip bomb", lay=bomb, lost=NOTHING,
        said=(f"The submitted file is a compressed archive, not a notebook; {NO_ANSWER}",)),
]  # fmt: skip

FOLDERS = [
    Odd("renamed", lay=under("final (2).ipynb"), said=(CALLED.format("final (2).ipynb"),)),
    Odd("capitals in the name", lay=under("Convolution.IPYNB"), said=(CALLED.format("Convolution.IPYNB"),)),
    Odd("extension .ipynb.txt", lay=under("convolution.ipynb.txt"), said=(HOLDS.format("convolution.ipynb.txt"),)),
    Odd("extension .json", lay=under("convolution.json"), said=(HOLDS.format("convolution.json"),)),
    Odd("in a subfolder", lay=under("ps1/work/convolution.ipynb"), said=(CALLED.format("ps1/work/convolution.ipynb"),)),
    Odd("in a folder named like the notebook", lay=under("convolution.ipynb/convolution.ipynb"),
        said=(CALLED.format("convolution.ipynb/convolution.ipynb"),)),
    Odd("several notebooks", lay=also({"draft.ipynb": b"{}", "old/convolution.ipynb": b"{}"}),
        said=("Other notebooks were handed in too and not graded: 'draft.ipynb', 'old/convolution.ipynb'.",)),
    Odd("several notebooks, none of the right name", lay=also({"zz.ipynb": b"{}"}, own="convolution-final.ipynb"),
        said=("Several notebooks were handed in; 'convolution-final.ipynb' was graded.",)),
    Odd("checkpoint beside it", lay=also({".ipynb_checkpoints/convolution-checkpoint.ipynb": b"{}"})),
    Odd("checkpoint alone", lay=under(".ipynb_checkpoints/convolution-checkpoint.ipynb"),
        said=("There was no notebook but Jupyter's automatic copy in .ipynb_checkpoints; it was graded.",)),
    Odd("a Mac's notes beside it", lay=also({"__MACOSX/._final.ipynb": b"\0", "._final.ipynb": b"\0"}, "final.ipynb"),
        said=(CALLED.format("final.ipynb"),)),
    Odd("zip file", lay=zipped, lost=NOTHING, said=(
        "The archive 'submission.zip' was not opened; unpack it in the student's folder, then grade again.",
        NONE_SUBMITTED)),
    Odd("script instead of a notebook", lay=lambda folder, content: under("convolution.py")(folder, SCRIPT),
        lost=NOTHING, said=("No notebook was found, but only 'convolution.py'.", NONE_SUBMITTED)),
    Odd("empty folder", lay=nothing, lost=NOTHING, said=(NONE_SUBMITTED,)),
    Odd("link to a notebook", lay=link, lost=NOTHING, said=(
        "'convolution.ipynb' is a link; it was not followed and was left out.", NONE_SUBMITTED)),
    Odd("links beside it", lay=link_beside, said=(
        "'data' is a link; it was not followed and was left out.",
        "'zero' is a link; it was not followed and was left out.")),
    Odd("pipe beside it", lay=pipe, said=("'pipe' is a special file; it was not followed and was left out.",)),
    Odd("name with a line end beside it", lay=also({"a\nb.csv": b"1"}),
        said=("The file 'a?b.csv' has a name that is not allowed; it was left out.",)),
    Odd("three hundred files beside it", lay=also({f"z{number:03}": b"" for number in range(300)}),
        said=("More than 200 files were handed in; the rest was left out.",)),
]  # fmt: skip

FILES = [*FORMATS, *DAMAGED, *FOLDERS]

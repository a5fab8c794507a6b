"""Proof that release/ gives nothing away: each way in which it could is looked for by itself.

The audit does not trust the preprocessors that made the release: it compares texts.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.preprocessors import ClearSolutions

from autograder.grading.release_cells import is_author_cell
from autograder.nbgrader_bridge.clean_run import run_cells
from autograder.nbgrader_bridge.gradebook import source_notebooks

PACKAGE = "autograder"

_MARKS = re.compile(r"(?:BEGIN|END) (?:SOLUTION|HIDDEN TESTS|MARK SCHEME)")
_REGION = re.compile(r"BEGIN (SOLUTION|HIDDEN TESTS|MARK SCHEME)")
#: A shorter line says nothing by itself (`return n`, `else:`), and may well stand in a statement.
_TELLING = 16


def audit_release(root: Path, assignment: str, run: bool = True) -> list[str]:
    """Problems of the released notebooks of an assignment; none when all is well.

    With `run`, the notebook's code is run in a clean interpreter up to its first unanswered
    exercise.
    """
    problems: list[str] = []
    folder = root / "release" / assignment
    paths = source_notebooks(root, assignment)
    for path in paths:
        released = folder / path.name
        if not released.is_file():
            problems.append(f"{released}: there is no such file; run 'deepdrills release {assignment}'")
            continue
        notebook = nbformat.read(released, as_version=4)
        found = audit_notebook(nbformat.read(path, as_version=4), notebook)
        if run and not found:
            found = _run_problems(notebook)
        problems += [f"{released}: {problem}" for problem in found]
    for other in sorted(folder.rglob("*")):
        if other.is_symlink():
            problems.append(f"{other}: is a link, which students would get as what it points to")
        elif other.is_file() and other.name not in {path.name for path in paths}:
            problems += [f"{other}: {problem}" for problem in _file_problems(other)]
    return problems


def audit_notebook(source: NotebookNode, released: NotebookNode) -> list[str]:
    """Problems of one released notebook against its source, without running it."""
    problems: list[str] = []
    secrets = _secrets(source)
    for place, cell in enumerate(released.cells, start=1):
        name = cell.metadata.get("nbgrader", {}).get("grade_id") or f"number {place}"
        if is_author_cell(cell):
            problems.append(f"cell {name} is an author's cell")
        if mark := _MARKS.search(cell.source):
            problems.append(f"cell {name} holds the mark '{mark[0]}'")
        for line in _lines(cell.source):
            if line in secrets:
                problems.append(f"cell {name} holds a line of {secrets[line]}: {line!r}")
        if cell.cell_type == "code":
            if cell.outputs:
                problems.append(f"cell {name} has outputs")
            problems += [f"cell {name} {problem}" for problem in _code_problems(cell.source)]
    return problems + _cell_problems(source, released)


def _secrets(source: NotebookNode) -> dict[str, str]:
    """Telling lines that stand only in what students must not see, with the place they come from."""
    secret: dict[str, str] = {}
    public: set[str] = set()
    for cell in source.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "an author's cell")
        inside = is_author_cell(cell) or (utils.is_solution(cell) and "BEGIN SOLUTION" not in cell.source)
        region = inside
        for raw in cell.source.split("\n"):
            line = " ".join(raw.split())
            if _REGION.search(raw):
                region = True
            elif _MARKS.search(raw):
                region = inside
            elif not region:
                public.add(line)
            elif len(line) >= _TELLING:
                secret[line] = f"what is hidden in {grade_id}"
    return {line: place for line, place in secret.items() if line not in public}


def _lines(text: str) -> set[str]:
    return {" ".join(line.split()) for line in text.split("\n")}


def _code_problems(source: str) -> list[str]:
    """Imports of our package and calls of `check`, in code and in the text of magics and strings."""
    problems: list[str] = []
    try:
        tree = ast.parse(TransformerManager().transform_cell(source))
    except (SyntaxError, ValueError) as error:
        return [f"is no Python ({error})"]
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if re.search(rf"(?:\bimport|\bfrom|-m)\s+{PACKAGE}\b|^{PACKAGE}(?:\.|$)", node.value):
                names = [PACKAGE]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "check":
            problems.append("calls the hidden check")
        if any(name.partition(".")[0] == PACKAGE for name in names):
            problems.append(f"imports {PACKAGE}")
    return problems


def _cell_problems(source: NotebookNode, released: NotebookNode) -> list[str]:
    """Cells of the source that the release lacks, or has with other points or another stub."""
    problems: list[str] = []
    have = {
        cell.metadata.nbgrader["grade_id"]: cell for cell in released.cells if "nbgrader" in cell.metadata
    }
    for cell in source.cells:
        if "nbgrader" not in cell.metadata:
            continue
        name = cell.metadata.nbgrader["grade_id"]
        other = have.get(name)
        if other is None:
            problems.append(f"cell {name} of the source is missing")
            continue
        for key in ("grade", "solution", "locked", "points"):
            if cell.metadata.nbgrader.get(key) != other.metadata.nbgrader.get(key):
                problems.append(f"cell {name} has another '{key}' than the source")
        if utils.is_solution(cell) and other.source != stub(cell):
            problems.append(f"cell {name} is not the empty form of its solution")
    return problems


def stub(cell: NotebookNode) -> str:
    """What a solution cell of the source should be for students, worked out without nbgrader's code."""
    stubs = ClearSolutions()
    text = str(stubs.text_stub if cell.cell_type == "markdown" else stubs.code_stub["python"])
    if "BEGIN SOLUTION" not in cell.source:
        return text
    kept: list[str] = []
    inside = False
    for line in cell.source.split("\n"):
        if "BEGIN SOLUTION" in line:
            inside = True
            indent = line[: len(line) - len(line.lstrip())]
            kept += [indent + one for one in text.split("\n")]
        elif "END SOLUTION" in line:
            inside = False
        elif not inside:
            kept.append(line)
    return "\n".join(kept)


def _file_problems(path: Path) -> list[str]:
    """Problems of a file beside the notebooks: nbgrader copies them all from source/."""
    if path.suffix == ".ipynb":
        return ["is a notebook that source/ does not have there"]
    text = path.read_bytes()[:1_000_000].decode("utf-8", errors="replace")
    if _MARKS.search(text):
        return ["holds a mark of a solution or of hidden checks"]
    if re.search(rf"^\s*(?:import|from)\s+{PACKAGE}\b", text, re.MULTILINE):
        return [f"imports {PACKAGE}"]
    return []


def _run_problems(notebook: NotebookNode) -> list[str]:
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    answers = [place for place, cell in enumerate(cells) if utils.is_solution(cell)]
    ended = run_cells([cell.source for cell in cells])
    if not answers:
        return [] if ended.kind is None else [f"does not run: {ended.kind}: {ended.text}"]
    if ended.kind is None:
        return ["runs to its end although no exercise is answered"]
    first, after = answers[0], [*answers[1:], len(cells)][0]
    # A function's stub raises when its visible checks call it, a variable's at once.
    if ended.cell is None or not first <= ended.cell < after or ended.kind != "NotImplementedError":
        name = "outside the cells"
        if ended.cell is not None:
            name = f"in cell {cells[ended.cell].metadata.get('nbgrader', {}).get('grade_id', ended.cell)}"
        return [f"should stop at its first exercise, but stops {name} with {ended.kind}: {ended.text}"]
    return []

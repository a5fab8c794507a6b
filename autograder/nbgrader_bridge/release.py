"""Making release/ and solutions/ from source/, and telling whether they are still in step."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.errors import CourseError
from autograder.grading.experiments import EXPERIMENT
from autograder.grading.release_cells import release_cells
from autograder.nbgrader_bridge.gradebook import generate_assignment, source_notebooks
from autograder.nbgrader_bridge.settings import load_settings
from autograder.nbgrader_bridge.solutions import execute, solution_cells


@dataclass(frozen=True)
class ReleaseResult:
    """The files that a release wrote."""

    assignment: str
    released: tuple[Path, ...]
    solutions: tuple[Path, ...]


def release_assignment(root: Path, assignment: str) -> ReleaseResult:
    """Write release/, the gradebook's cells and the executed solutions of one assignment.

    Raises `CourseError` on a source that can not be released. A solution that does not run is
    found before anything is written.
    """
    root = root.resolve()
    paths = source_notebooks(root, assignment)
    config = load_settings(root)
    executed = {}
    for path in paths:
        source = _read(path)
        try:
            release_cells(source, config)
        except Exception as error:  # nbgrader raises bare RuntimeErrors on a source that it refuses
            raise CourseError(path, f"nbgrader refuses it: {error}", "Mend the source notebook.") from error
        executed[path.name] = execute(solution_cells(source), path)
    generate_assignment(root, assignment)
    folder = root / "solutions" / assignment
    folder.mkdir(parents=True, exist_ok=True)
    for name, notebook in executed.items():
        nbformat.write(notebook, folder / name)
    return ReleaseResult(
        assignment,
        tuple(root / "release" / assignment / path.name for path in paths),
        tuple(folder / path.name for path in paths),
    )


def in_step(root: Path, assignment: str, run: bool = True) -> list[str]:
    """Differences between source/ and the release/ and solutions/ made from it; none when in step.

    The solutions are executed again to compare their text outputs, unless `run` is False; figures
    are compared by their presence, for their bytes differ from one machine to the next. So do the last
    digits of numbers: those with a point agree within a hundredth. After a training no digit agrees on
    another processor, so of an experiment's outputs only the words are compared.
    """
    root = root.resolve()
    config = load_settings(root)
    differences: list[str] = []
    for path in source_notebooks(root, assignment):
        source = _read(path)
        released = root / "release" / assignment / path.name
        solved = root / "solutions" / assignment / path.name
        missing = [one for one in (released, solved) if not one.is_file()]
        if missing:
            differences += [f"{one}: there is no such file" for one in missing]
            continue
        differences += _differences(released, _read(released), release_cells(source, config), outputs=False)
        wanted = solution_cells(source)
        wanted = execute(wanted, path) if run else wanted
        differences += _differences(solved, _read(solved), wanted, outputs=run)
    return differences


def _read(path: Path) -> NotebookNode:
    try:
        notebook: NotebookNode = nbformat.read(path, as_version=4)
    except Exception as error:  # nbformat raises many kinds on a spoiled file
        raise CourseError(path, f"is no notebook ({error})", "Mend the file.") from error
    return notebook


def _differences(path: Path, got: NotebookNode, wanted: NotebookNode, outputs: bool) -> list[str]:
    found: list[str] = []
    if got.metadata != wanted.metadata:
        found.append(f"{path}: the notebook's metadata differ from the source's")
    if len(got.cells) != len(wanted.cells):
        return [*found, f"{path}: {len(got.cells)} cells instead of {len(wanted.cells)}"]
    for place, (have, want) in enumerate(zip(got.cells, wanted.cells, strict=True), start=1):
        name = want.metadata.get("nbgrader", {}).get("grade_id") or f"number {place}"
        for part in ("id", "cell_type", "source", "metadata"):
            if have.get(part) != want.get(part):
                found.append(f"{path}: the {part} of cell {name} differs")
        trained = EXPERIMENT in want.metadata.get("tags", [])
        if outputs and not _alike(str(_shown(have)), str(_shown(want)), trained):
            found.append(f"{path}: the outputs of cell {name} differ")
    return found


_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def _alike(have: str, want: str, trained: bool) -> bool:
    """Whether two texts have the same words, and numbers that two processors may give."""
    if _NUMBER.sub("#", have) != _NUMBER.sub("#", want):
        return False
    if trained:
        return True
    pairs = zip(_NUMBER.findall(have), _NUMBER.findall(want), strict=True)
    return all(
        one == other or ("." in one and math.isclose(float(one), float(other), rel_tol=1e-2))
        for one, other in pairs
    )


def _shown(cell: NotebookNode) -> list[Any]:
    """What a cell shows: its texts, and where it shows a figure (whose text form names its size)."""
    shown: list[Any] = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        figures = sorted(kind for kind in data if kind.startswith("image/"))
        texts = {} if figures else {kind: text for kind, text in data.items() if kind.startswith("text/")}
        shown.append((output.output_type, output.get("name"), output.get("text"), figures, texts))
    return shown

"""The course folders that are measured, and classes of copies with variations that hand in to them."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import nbformat

from autograder.grading.answers import AnswerSheet

HERE = Path(__file__).parent
REPOSITORY = HERE.parent
CONV20, PS1 = "conv20", "ps1-convolution"

#: nbgrader as it comes; the kernel's code may take as long as it likes.
_STOCK = "c = get_config()\nc.Execute.timeout = 600\n"
_CHECK = "import sys\nsys.path.insert(0, {repository!r})\nfrom benchmarks.in_kernel import score\n"


def make_course(root: Path, assignment: str) -> Path:
    """A course folder with one assignment: the repository's own, or the benchmark's."""
    home = HERE / CONV20 if assignment == CONV20 else REPOSITORY
    root.mkdir(parents=True)
    shutil.copy(home / "nbgrader_config.py", root)
    for name in ("source", "solutions", "suites"):
        if (home / name / assignment).is_dir():
            shutil.copytree(home / name / assignment, root / name / assignment)
    return root


def hand_in(root: Path, assignment: str, count: int, changed: str = "") -> list[Path]:
    """`count` solved submissions, each with a line of its own in every answer, so that no two are equal."""
    sheet = AnswerSheet(root, assignment)
    code = {cell.grade_id for cell in sheet.template.cells if cell.cell_type == "code"}
    paths = []
    for number in range(count):
        mark = f"\n# student {number}{changed}"
        answers = {name: text + mark * (name in code) for name, text in sheet.solutions.items()}
        folder = root / "submitted" / f"s{number:05}" / assignment
        folder.mkdir(parents=True, exist_ok=True)
        paths.append(folder / f"{sheet.template.notebook}.ipynb")
        paths[-1].write_bytes(sheet.bytes(answers))
    return paths


def make_stock(root: Path, course: Path, assignment: str) -> Path:
    """The same assignment for nbgrader alone: each grade cell runs the same suite in the student's kernel."""
    suites = course / "suites" if (course / "suites").is_dir() else REPOSITORY / "autograder" / "suites"
    (path,) = (course / "source" / assignment).glob("*.ipynb")
    source = nbformat.read(path, as_version=4)
    source.cells = [cell for cell in source.cells if "author-only" not in cell.metadata.get("tags", [])]
    for cell in source.cells:
        about = cell.metadata.get("nbgrader", {})
        if about.get("grade") and not about.get("solution"):
            exercise = about["grade_id"].removesuffix("_checks")
            call = f"score({str(suites)!r}, {assignment!r}, {exercise!r}, {about['points']!r}, globals())"
            cell.source = (
                "### BEGIN HIDDEN TESTS\n"
                + _CHECK.format(repository=str(REPOSITORY))
                + call
                + "\n### END HIDDEN TESTS"
            )
    (root / "source" / assignment).mkdir(parents=True)
    nbformat.write(source, root / "source" / assignment / path.name)
    (root / "nbgrader_config.py").write_text(_STOCK)
    return root


def take_over(course: Path, stock: Path, assignment: str, count: int) -> None:
    """Hand the first `count` submissions of `course` in to `stock`, on its own released cells."""
    (released,) = (stock / "release" / assignment).glob("*.ipynb")
    cells = json.loads(released.read_text())
    for path in sorted((course / "submitted").glob(f"*/{assignment}/*.ipynb"))[:count]:
        answers = {
            cell["metadata"]["nbgrader"]["grade_id"]: cell["source"]
            for cell in json.loads(path.read_text())["cells"]
            if cell["metadata"].get("nbgrader", {}).get("solution")
        }
        for cell in cells["cells"]:
            name = cell["metadata"].get("nbgrader", {}).get("grade_id")
            cell["source"] = answers.get(name, cell["source"])
        folder = stock / "submitted" / path.parent.parent.name / assignment
        folder.mkdir(parents=True)
        (folder / path.name).write_text(json.dumps(cells))


def command(*words: str) -> list[str]:
    """A command of this environment: `deepdrills` or `nbgrader`."""
    program = {"deepdrills": "autograder.cli", "nbgrader": "nbgrader"}[words[0]]
    return [sys.executable, "-m", program, *words[1:]]

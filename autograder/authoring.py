"""What `deepdrills new-exercise` does: write the skeletons of an exercise, and nothing over anything."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
from rich.console import Console

import autograder
from autograder.batch.course import Course
from autograder.commands import known_assignments
from autograder.errors import CourseError, UsageError
from autograder.grading.template import load_template
from autograder.nbgrader_bridge.skeleton import cells, check_name, check_title, files, place


def new_exercise(
    course: Course, assignment: str, name: str, title: str | None, points: float, console: Console
) -> int:
    """Write a reference, a data file and a suite, and append the cells to the source notebook.

    Raises `UsageError` when any of them is there already; then nothing is written.
    """
    words = title or name.replace("_", " ").capitalize()
    check_name(name)
    check_title(words)
    known_assignments(course, [assignment])
    home = Path(autograder.__file__).resolve().parents[1]
    if course.root.resolve() != home:
        raise UsageError(
            f"{course.root}: suites and references belong to the course's repository, which is {home}. "
            "Write the exercise there."
        )
    template = load_template(course.root, assignment)
    notebook = course.root / "source" / assignment / f"{template.notebook}.ipynb"
    source = nbformat.read(notebook, as_version=4)
    made = cells(name, words, points)
    new = {cell.metadata.nbgrader.grade_id for cell in made}
    taken = sorted(new & {cell.grade_id for cell in template.cells})
    texts = {home / path: text for path, text in files(assignment, name, words).items()}
    taken += [str(path.relative_to(home)) for path in texts if path.exists()]
    if taken:
        raise UsageError(f"'{name}' is taken: {', '.join(taken)}. Nothing was written; choose another name.")
    where = place(source)
    source.cells[where:where] = made
    written: list[Path] = []
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                written.append(path)
                file.write(text)
        _replace(notebook, source)
    except OSError as error:
        for path in written:
            path.unlink(missing_ok=True)
        raise CourseError(notebook, f"cannot be extended ({error})", "Nothing was written.") from error
    console.print(f"Four cells were added to {notebook.relative_to(home)}", highlight=False, markup=False)
    for path in written:
        console.print(str(path.relative_to(home)), highlight=False, markup=False)
    console.print(
        f"Write the reference, then: deepdrills audit {assignment} -e {name}  (docs/authoring.md says how)",
        highlight=False,
        markup=False,
    )
    return 0


def _replace(path: Path, notebook: nbformat.NotebookNode) -> None:
    """Write a notebook whole or not at all."""
    beside = path.with_name(f".{path.name}.new")
    try:
        nbformat.write(notebook, beside)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)

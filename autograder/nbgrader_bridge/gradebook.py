"""nbgrader's own converters run in this process on a course folder, quiet and with collected failures.

Nothing here writes the gradebook: only nbgrader's code does.
"""

from __future__ import annotations

import glob
import logging
import os
import re
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat
from nbgrader import utils
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import (
    BaseConverter,
    GenerateAssignment,
    GenerateFeedback,
    NbGraderException,
)
from nbgrader.coursedir import CourseDirectory
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy.exc import DBAPIError, SAWarning

from autograder.errors import CourseError, UsageError, no_room
from autograder.grading.release_cells import gradebook_cells
from autograder.nbgrader_bridge.obstacles import (
    PATTERN,
    Failure,
    convert_each,
    said_of,
    take_out,
    wrong_student,
)
from autograder.nbgrader_bridge.settings import alembic_on_path, load_settings

LOG = logging.getLogger("deepdrills.nbgrader")


def source_notebooks(root: Path, assignment: str) -> list[Path]:
    """The notebooks of an assignment's source. Raises `CourseError` when there are none."""
    folder = root / "source" / assignment
    found = sorted(folder.glob("*.ipynb")) if assignment and Path(assignment).name == assignment else []
    if not found:
        raise CourseError(folder, "there is no source notebook", "Check the assignment's name.")
    return found


def generate_assignment(root: Path, assignment: str, release_directory: Path | None = None) -> None:
    """Run nbgrader's GenerateAssignment, which writes release/ and the assignment's cells."""
    source_notebooks(root, assignment)
    course = course_directory(root, assignment, student_id=".")
    if release_directory is not None:
        course.release_directory = str(release_directory)
    converter = _GenerateAssignment(coursedir=course, config=course.config, log=LOG, force=True)
    failures = run_converter(converter)
    if failures:
        raise CourseError(
            root / "source" / assignment,
            failures[0][1],
            "Mend the source, then release the assignment again.",
        )


def ensure_assignment(root: Path, assignment: str) -> None:
    """Make the gradebook know the cells of source/; release/ is left as it is."""
    if all(_is_known(root, assignment, path) for path in source_notebooks(root, assignment)):
        return
    with tempfile.TemporaryDirectory(prefix="deepdrills-") as folder:
        generate_assignment(root, assignment, Path(folder))


def write_feedback(root: Path, assignment: str, students: list[str] | None = None) -> list[Failure]:
    """Run nbgrader's GenerateFeedback; (student, what went wrong) for each failure."""
    course = course_directory(root, assignment)
    return run_converter(
        _GenerateFeedback(coursedir=course, config=course.config, log=LOG, force=True), students
    )


class Recording(BaseConverter):  # type: ignore[misc]
    """Remembers which student a failure belongs to; nbgrader only logs it."""

    assignments: dict[str, list[str]]

    def __init__(self, **kwargs: Any) -> None:
        self.failures: list[Failure] = []
        self.wanted: list[str] | None = None
        #: What stops more than one student: the database's own failure, or no room.
        self.stopped: Exception | None = None
        #: Whose conversion was begun.
        self.converted: set[str] = set()
        self._student = ""
        super().__init__(**kwargs)

    def init_notebooks(self) -> None:
        if self.wanted is None:
            super().init_notebooks()
            return
        self.assignments = {}
        self.notebooks: list[str] = []
        for student in self.wanted:
            if words := wrong_student(student):
                self.failures.append((student, words))
                continue
            path = self._format_source(self.coursedir.assignment_id, student)
            found = glob.glob(os.path.join(glob.escape(path), f"{self.coursedir.notebook_id}.ipynb"))
            if found:
                self.assignments[path] = found
            else:
                self.failures.append((student, f"no notebook of this student is in {self._input_directory}/"))

    def convert_notebooks(self) -> None:
        if self.coursedir.student_id != ".":  # which is nbgrader's word for no student
            self.failures += take_out(self, [])
        for student, error in convert_each(self, super().convert_notebooks):
            if student not in {name for name, _ in self.failures}:
                self.failures.append((student, said_of(error)))

    def init_destination(self, assignment_id: str, student_id: str) -> bool:
        self._student = student_id
        with self.recorded():
            return bool(super().init_destination(assignment_id, student_id))

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        self._student = student_id
        self.converted.add(student_id)
        with self.recorded():
            super().init_assignment(assignment_id, student_id)

    def convert_single_notebook(self, notebook_filename: str) -> None:
        with self.recorded():
            super().convert_single_notebook(notebook_filename)

    @contextmanager
    def recorded(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if isinstance(error, DBAPIError) or no_room(error):
                self.stopped = self.stopped or error
            self.failures.append((self._student, said_of(error)))
            raise


class _GenerateAssignment(Recording, GenerateAssignment):  # type: ignore[misc]
    pass


class _GenerateFeedback(Recording, GenerateFeedback):  # type: ignore[misc]
    pass


def course_directory(root: Path, assignment: str, student_id: str = "*") -> CourseDirectory:
    """The course as nbgrader sees it, with the settings of its nbgrader_config.py."""
    alembic_on_path()
    root = root.resolve()
    if PATTERN.search(str(root)):
        raise UsageError(
            f"{root}: nbgrader cannot work in a folder with one of [ ] * ? or a line break in its name. "
            "Rename it."
        )
    config = load_settings(root)
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.assignment_id = assignment
    config.CourseDirectory.student_id = student_id
    course = CourseDirectory(config=config, log=LOG)
    if not course.course_id and not course.db_url.startswith("sqlite"):
        raise UsageError(
            f"{root / 'nbgrader_config.py'}: a gradebook on a server holds courses by their names. "
            'Give this one a name there, as c.CourseDirectory.course_id = "deep-learning-2026".'
        )
    return course


def step_of(root: Path, folder: Path) -> str:
    """A folder as an nbgrader step: relative to the course where it can be, and free of patterns."""
    folder, root = folder.resolve(), root.resolve()
    step = str(folder.relative_to(root) if folder.is_relative_to(root) else folder)
    if re.search(r"[^\w./ -]", step):
        raise UsageError(
            f"{folder}: nbgrader would read this name as a pattern. Use letters, digits, - and _."
        )
    return step


def run_converter(converter: Recording, students: list[str] | None = None) -> list[Failure]:
    converter.wanted = students
    execution = os.environ.get("NBGRADER_EXECUTION")
    try:
        with quiet(), own_schema_version():
            converter.start()
    except NbGraderException as error:
        if not converter.failures:
            converter.failures.append((students[0] if students and len(students) == 1 else "*", str(error)))
    finally:
        # nbgrader leaves this set when a conversion fails.
        if execution is None:
            os.environ.pop("NBGRADER_EXECUTION", None)
    return converter.failures


@contextmanager
def own_schema_version() -> Iterator[None]:
    """nbgrader asks `alembic`, in a process of its own, what a new gradebook's schema is called."""
    with mock.patch("nbgrader.api.get_alembic_version", _schema_version):
        yield


def _schema_version() -> str:
    from alembic.script import ScriptDirectory

    return ScriptDirectory(ALEMBIC_DIR).get_heads()[0]


@contextmanager
def quiet() -> Iterator[None]:
    """nbgrader's many lines go to the log at debug level only."""

    def demote(record: logging.LogRecord) -> bool:
        record.levelno, record.levelname = logging.DEBUG, "DEBUG"
        return logging.getLogger().isEnabledFor(logging.DEBUG)

    LOG.addFilter(demote)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)  # of nbgrader's own queries
            yield
    finally:
        LOG.removeFilter(demote)


def _is_known(root: Path, assignment: str, path: Path) -> bool:
    course = course_directory(root, assignment)
    saved = gradebook_cells(nbformat.read(path, as_version=4), course.config)
    wanted = {
        cell.metadata.nbgrader["grade_id"]: (cell.source, cell.cell_type, utils.is_locked(cell))
        for cell in saved.cells
        if utils.is_grade(cell) or utils.is_solution(cell) or utils.is_locked(cell)
    }
    points = {
        cell.metadata.nbgrader["grade_id"]: float(cell.metadata.nbgrader["points"])
        for cell in saved.cells
        if utils.is_grade(cell)
    }
    solutions = {cell.metadata.nbgrader["grade_id"] for cell in saved.cells if utils.is_solution(cell)}
    with Gradebook(course.db_url, course.course_id) as gradebook:
        try:
            known = gradebook.find_notebook(path.stem, assignment)
        except MissingEntry:
            return False
        return (
            wanted == {cell.name: (cell.source, cell.cell_type, cell.locked) for cell in known.source_cells}
            and points == {cell.name: float(cell.max_score) for cell in known.grade_cells}
            and solutions == {cell.name for cell in known.solution_cells}
        )

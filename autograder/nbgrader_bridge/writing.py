"""Grades go into the gradebook in batches, in one process, by nbgrader's own code."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

import nbformat
from nbconvert.writers.files import FilesWriter
from nbgrader import utils
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from sqlalchemy.exc import DBAPIError, OperationalError

from autograder.batch.course import Options
from autograder.errors import DeepdrillsError, DiskFullError, no_room
from autograder.nbgrader_bridge.batch_gradebook import BatchGradebook
from autograder.nbgrader_bridge.grade import checked_notebook
from autograder.nbgrader_bridge.gradebook import (
    LOG,
    Recording,
    course_directory,
    ensure_assignment,
    own_schema_version,
    quiet,
    run_converter,
    step_of,
)
from autograder.nbgrader_bridge.obstacles import Failure
from autograder.nbgrader_bridge.settings import (
    AUTOGRADE_PREPROCESSORS,
    SANITIZE_PREPROCESSORS,
    limits_from,
    options_from,
)
from autograder.nbgrader_bridge.standing import database

#: How long another program may keep the gradebook locked before grading stops.
LOCK_SECONDS = 20.0
_PAUSE_SECONDS = 0.25
Result = TypeVar("Result")
_PLUGIN = "nbgrader.plugins.LateSubmissionPlugin"


class GradebookStopped(DeepdrillsError):
    """The gradebook cannot be written; what is graded is in the store."""


class GradebookWriter:
    """Writes the gradebook and autograded/ of one assignment. Use as a context manager."""

    def __init__(
        self,
        root: Path,
        assignment: str,
        submitted: Path | None = None,
        lock_seconds: float = LOCK_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`submitted`: where submissions lie, `<student>/<assignment>/`; the course's own by default."""
        self._root = root.resolve()
        course = course_directory(root, assignment)
        if submitted is not None:
            course.submitted_directory = step_of(root, submitted)
        self._course = course
        self._converter = _Autograde(coursedir=course, config=course.config, log=LOG, force=True)
        self._lock_seconds = lock_seconds
        self._clock = clock
        self._stack = ExitStack()
        self._gradebook: BatchGradebook | None = None

    def __enter__(self) -> GradebookWriter:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._stack.close()
        self._gradebook = None

    def write(self, students: list[str] | None) -> list[Failure]:
        """Write these students' results, all at once; (student, what went wrong) for each failure.

        None means everybody who submitted. A student without a submitted notebook is a failure too:
        nbgrader would skip it and keep the scores of an earlier submission.
        Raises `GradebookStopped` when another program keeps the gradebook locked, `DiskFullError`
        when there is no room; nothing of the students is in the gradebook then.
        """
        with quiet():
            together = self._converter.is_ours
            failures = self._attempt(lambda: self._batch(students, together))
            bad = {student for student, _ in failures} & self._converter.converted
            if together and bad:
                # Once more: these alone, with each of nbgrader's own commits, so that nobody else is touched.
                good = sorted(self._converter.converted - bad)
                self._attempt(lambda: self._batch(good, True))
                self._attempt(lambda: self._batch(sorted(bad), False))
        return [*failures, *self._silent(students or [], {student for student, _ in failures})]

    def _silent(self, students: list[str], told: set[str]) -> list[Failure]:
        """Whom nbgrader passed over without a word."""
        if "*" in told:
            return []
        course, name = self._course, self._course.assignment_id
        return [
            (student, "nbgrader wrote no graded notebook and did not say why.")
            for student in students
            if student not in told
            and not any(Path(course.format_path(course.autograded_directory, student, name)).glob("*.ipynb"))
        ]

    def _batch(self, students: list[str] | None, together: bool) -> list[Failure]:
        gradebook = self._opened()
        converter = self._converter
        converter.failures, converter.stopped, converter.converted = [], None, set()
        try:
            with gradebook.lent(together):
                failures = run_converter(converter, students)
            if converter.stopped is not None:
                raise converter.stopped
            if together and {student for student, _ in failures} & converter.converted:
                gradebook.give_up()
            else:
                gradebook.save()
        except BaseException:
            gradebook.give_up()
            raise
        return failures

    def _opened(self) -> BatchGradebook:
        if self._gradebook is None:
            with own_schema_version():
                self._gradebook = BatchGradebook(self._course.db_url, self._course.course_id)
            self._stack.callback(self._gradebook.close)
        return self._gradebook

    def _attempt(self, step: Callable[[], list[Failure]]) -> list[Failure]:
        return attempt(step, self._root, self._course.db_url, self._lock_seconds, self._clock)


def attempt(
    step: Callable[[], Result],
    root: Path,
    db_url: str,
    lock_seconds: float = LOCK_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> Result:
    """Do a step on the gradebook, again and again while another program has it locked.

    Raises `GradebookStopped` or `DiskFullError`, which say what to do.
    """
    deadline = clock() + lock_seconds
    while True:
        try:
            return step()
        except DBAPIError as error:
            if is_full(error):
                raise DiskFullError(root) from error
            if not is_locked(error):
                raise GradebookStopped(
                    f"{_database(db_url)}: the gradebook could not be written ({error.orig}). "
                    "See that its database can be reached, then run the same command again: "
                    "what is graded is kept and not graded again."
                ) from error
            if clock() > deadline:
                raise GradebookStopped(
                    f"{_database(db_url)}: another program has kept the gradebook locked for "
                    f"{lock_seconds:.0f} seconds. End it (a formgrader, another grading), then run "
                    "the same command again: what is graded is kept and not graded again."
                ) from error
            time.sleep(_PAUSE_SECONDS)
        except OSError as error:
            if is_full(error):
                raise DiskFullError(root) from error
            raise


def ensure(root: Path, assignment: str) -> None:
    """Make the gradebook know the cells of source/. Raises as `attempt` does."""
    url = database(root)

    def make() -> None:
        _create_whole(url, course_directory(root, assignment).course_id)
        ensure_assignment(root, assignment)

    attempt(make, root, url)


def _create_whole(db_url: str, course_id: str) -> None:
    """A gradebook in a file appears at once: nbgrader does not mend one whose making was interrupted."""
    path = Path(db_url.removeprefix("sqlite:///"))
    if not db_url.startswith("sqlite:///") or "?" in db_url or path.exists():
        return
    with tempfile.TemporaryDirectory(prefix=".gradebook-", dir=path.parent) as folder:
        made = Path(folder) / path.name
        with own_schema_version():
            Gradebook(f"sqlite:///{made}", course_id).close()
        os.replace(made, path)


def write_grades(
    root: Path, assignment: str, students: list[str] | None = None, submitted_directory: Path | None = None
) -> list[Failure]:
    """Write many students' results at once; (student, what went wrong) for each failure."""
    with GradebookWriter(root, assignment, submitted_directory) as writer:
        return writer.write(students)


def is_locked(error: BaseException) -> bool:
    """Whether a database's error says that another program is in the way, so that waiting may help."""
    words = str(getattr(error, "orig", error)).lower()
    return isinstance(error, OperationalError) and any(
        part in words for part in ("database is locked", "database table is locked", "lock timeout")
    )


def is_full(error: BaseException) -> bool:
    """Whether an error says that there is no room on a disk."""
    if isinstance(error, OSError):
        return no_room(error)
    words = str(getattr(error, "orig", "")).lower()
    return "disk is full" in words or "no space left" in words or "disk i/o error" in words


def _database(db_url: str) -> str:
    """The database for a message, without a password."""
    scheme, _, rest = db_url.partition("://")
    return rest.removeprefix("/") if scheme == "sqlite" else f"{scheme}://{rest.rpartition('@')[2]}"


class _Autograde(Recording, Autograde):  # type: ignore[misc]
    """nbgrader's Autograde, whose two conversions of a notebook through a file are one in memory."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._made = False
        self._steps: list[Any] | None = None
        hooks = self.pre_convert_hook or self.post_convert_hook
        plugin = self.config.get("AssignLatePenalties", {}).get("plugin_class", _PLUGIN)
        #: Whether the course's settings are the ones that `configure` makes, whose code we know.
        self.is_ours = (
            not hooks
            and plugin == _PLUGIN
            and list(self.sanitize_preprocessors) == list(SANITIZE_PREPROCESSORS)
            and list(self.autograde_preprocessors) == list(AUTOGRADE_PREPROCESSORS)
        )
        self.options = Options(limits_from(self.config), options_from(self.config).allow_degraded)

    def start(self) -> None:
        """As nbgrader's, but the exporter and its preprocessors are made once for all batches."""
        self.init_notebooks()
        if not self._made:
            self._made = True
            self.writer = FilesWriter(parent=self, config=self.config)
            self.exporter = self.exporter_class(parent=self, config=self.config)
        before = os.getcwd()
        os.chdir(self.coursedir.root)
        try:
            self.convert_notebooks()
        finally:
            os.chdir(before)

    def convert_single_notebook(self, notebook_filename: str) -> None:
        if not self.is_ours:
            super().convert_single_notebook(notebook_filename)
            return
        with self.recorded():
            resources = self.init_single_notebook_resources(notebook_filename)
            path = self._place(resources["nbgrader"])  # first: once a score is saved, nothing may fail
            folder = Path(notebook_filename).parent
            notebook = checked_notebook(
                Path(self.coursedir.root), resources["nbgrader"], folder, self.options
            )
            with utils.setenv(NBGRADER_EXECUTION="autograde"):
                for step in self._made_steps():
                    notebook, resources = step(notebook, resources)
            nbformat.validate(notebook)
            path.write_bytes((nbformat.v4.writes(notebook) + "\n").encode("utf-8", "replace"))

    def _made_steps(self) -> list[Any]:
        if self._steps is None:
            self._sanitizing = False
            self._init_preprocessors()
            self._sanitizing = True
            self._steps = list(self.exporter._preprocessors)
        return self._steps

    def _place(self, names: dict[str, str]) -> Path:
        """Where the graded notebook goes; its folder is made. Raises OSError."""
        folder = Path(self._format_dest(names["assignment"], names["student"]))
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{names['notebook']}.ipynb"

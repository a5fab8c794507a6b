"""A course folder: where its parts are, and how one submission of it is graded."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import autograder
from autograder.batch.digests import PACKAGE, exercise_digests, files_digest
from autograder.batch.folder import Handed, read_folder
from autograder.batch.staging import staged_key
from autograder.batch.store import Store, content_key, for_student, tree_digest
from autograder.batch.templates import kept_template
from autograder.batch.tree import apart
from autograder.errors import CourseError
from autograder.grading.graded import Graded, Known
from autograder.grading.prefix import locked_prefix
from autograder.grading.secret import FOLDER, course_secret
from autograder.grading.submission import Submission, rebuild
from autograder.grading.template import Role, Template
from autograder.results import Outcome
from autograder.sandbox.limits import Limits
from autograder.sandbox.prefix import Prefix

if TYPE_CHECKING:
    from autograder.grading.engine import Engine
    from autograder.grading.suite import Suite
    from autograder.sandbox.process import Sandbox
    from autograder.sandbox.seed import Seed

CONFIG = "nbgrader_config.py"


@dataclass(frozen=True)
class Options:
    """How to grade: the limits, and whether a missing layer of the sandbox is accepted."""

    limits: Limits = field(default_factory=Limits)
    allow_degraded: bool = False
    rerun_experiments: bool = False


@dataclass(frozen=True)
class Course:
    """A folder with nbgrader_config.py and source/."""

    root: Path

    @classmethod
    def find(cls, start: Path) -> Course:
        """The course that `start` lies in. Raises `CourseError` when it lies in none."""
        for folder in (start.resolve(), *start.resolve().parents):
            if (folder / CONFIG).is_file() and (folder / "source").is_dir():
                return cls(folder)
        raise CourseError(
            start,
            "is not in a course folder",
            f"Go to the folder that holds {CONFIG} and source/, or pass --course.",
        )

    @property
    def assignments(self) -> list[str]:
        return sorted({path.parent.name for path in self.root.glob("source/*/*.ipynb")})

    def suites(self, assignment: str) -> Path:
        """Where its hidden suites' folder is: the course's own suites/ beside source/, else the package's."""
        own = self.root / "suites"
        return own if (own / assignment).is_dir() else PACKAGE / "suites"

    @property
    def store(self) -> Store:
        return Store(self.root / FOLDER / "results")

    def students(self, assignment: str, submitted: Path | None = None) -> list[str]:
        """Who handed in something for an assignment."""
        folder = submitted or self.root / "submitted"
        if not folder.is_dir():
            return []
        return sorted(
            entry.name
            for entry in os.scandir(folder)
            if entry.is_dir(follow_symlinks=False) and _is_folder(Path(entry.path) / assignment)
        )


class Grader:
    """Everything that grading submissions of one assignment needs, started once."""

    def __init__(
        self,
        course: Course,
        assignment: str,
        options: Options,
        secret: str | None = None,
        sandbox: Callable[[], Sandbox] | None = None,
    ) -> None:
        """`sandbox`: gives a started one that outlives this grader; by default one of its own is started."""
        self.course = course
        self._lent = sandbox
        self.template = kept_template(course.root, assignment)
        if options.rerun_experiments:
            options = replace(options, limits=options.limits.for_experiments())
        self._options = options
        self._secret = secret or course_secret(course.root, create=True)
        self._basis = _basis(course, self.template, options, self._secret)
        exercises = [cell.exercise for cell in self.template.cells if cell.role is Role.CHECKS]
        self._digests = exercise_digests(
            course.suites(assignment), assignment, [name for name in exercises if name]
        )
        self._suites = content_key(*(f"{name} {one}" for name, one in self._digests.items()))
        self._files = _course_files(course.root / "source" / assignment)
        self._stack = ExitStack()
        self._suite: Suite | None = None
        self._sandbox: Sandbox | None = None
        self._engine: Engine | None = None

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._stack.close()
        self._suite = self._sandbox = self._engine = None

    def collect(self) -> None:
        """Import what grading needs and collect the suites. Raises `CourseError` for a wrong one."""
        from autograder.grading import engine  # noqa: F401  (it imports torch)
        from autograder.grading.suite import Suite

        assignment = self.template.assignment
        if self._suite is None:
            self._suite = self._stack.enter_context(Suite(assignment, self.course.suites(assignment)))

    @property
    def note(self) -> str:
        """What an operator should know of the sandbox; empty if nothing."""
        return self._sandbox.note if self._sandbox is not None else ""

    def submission(self, handed: Handed) -> Submission:
        """What was handed in, rebuilt on the source, with the course's own files beside it."""
        files, left = apart(handed.files, self._files)
        notes = [f"The file '{name}' is in the way of the course's own; it was left out." for name in left]
        return rebuild(handed.notebook, self.template, {**files, **self._files}, (*handed.notes, *notes))

    def key(self, submission: Submission) -> str:
        """The name of the submission's result: what was handed in, and what it is held against."""
        return f"{content_key(self._basis, submission.digest)[:40]}-{self._suites[:24]}"

    def grade(self, handed: Handed, student: str, keep: bool = True, force: bool = False) -> Graded:
        """Grade, or take the result from the store. An error of ours is never stored."""
        submission = self.submission(handed)
        key = self.key(submission)
        known = self.course.store.get(key) if keep and not force else None
        if known is None:
            graded = self._start().grade(submission, student, self._known(key) if keep and not force else {})
            known = replace(graded, digests=self._digests)
            if keep and known.report.outcome is not Outcome.ERROR:
                self.course.store.put(key, known)
        return for_student(known, student, 0.0)

    def _known(self, key: str) -> dict[str, Known]:
        """Exercises of this content that were graded before by the very same suites."""
        known: dict[str, Known] = {}
        for older in self.course.store.relatives(key):
            for name, digest in self._digests.items():
                if name not in known and older.digests.get(name) == digest:
                    result = older.exercise(name)
                    if result is not None:
                        known[name] = result
        return known

    def new_sandbox(self, slot: int | None = None, seed: Seed | None = None) -> Sandbox:
        """One for this assignment, not started: its first cells are run once in it."""
        return _sandbox(self.course, self._options, self.prefix(), slot, seed)

    def prefix(self) -> Prefix | None:
        """The course's own cells before the first answer."""
        return locked_prefix(self.template, self._files)

    def _start(self) -> Engine:
        if self._engine is None:
            # Here, for it imports torch and pytest: a look into the store needs neither.
            from autograder.grading.engine import Engine

            self.collect()
            assert self._suite is not None
            self._sandbox = self._lent() if self._lent else self._stack.enter_context(self.new_sandbox())
            self._engine = Engine(
                self.template,
                self._suite,
                self._sandbox,
                self._options.limits,
                self._secret,
                rerun_experiments=self._options.rerun_experiments,
            )
        return self._engine


def _sandbox(
    course: Course, options: Options, prefix: Prefix | None, slot: int | None = None, seed: Seed | None = None
) -> Sandbox:
    from autograder.sandbox.process import Sandbox

    return Sandbox(options.limits, [course.root], options.allow_degraded, slot, prefix, seed)


class WarmSandboxes:
    """Sandboxes that stay started between calls of `grade_one`, until the process ends.

    nbgrader makes its preprocessors anew for each notebook; a zygote takes seconds to start.
    """

    def __init__(self) -> None:
        self._started: dict[tuple[Path, Options, Prefix | None], Sandbox] = {}

    def get(self, course: Course, options: Options, prefix: Prefix | None = None) -> Sandbox:
        key = (course.root, options, prefix)
        if key not in self._started:
            sandbox = _sandbox(course, options, prefix)
            sandbox.start()
            atexit.register(sandbox.close)
            self._started[key] = sandbox
        return self._started[key]


_warm = WarmSandboxes()


def grade_one(
    root: Path, student: str, assignment: str, notebook: str, folder: Path, options: Options | None = None
) -> Graded:
    """Grade the submission in one folder, or take its result from the store."""
    course = Course(root)
    key = staged_key(root, student, assignment, folder)
    known = course.store.get(key) if key else None
    if known is not None:
        return for_student(known, student, 0.0)
    chosen = options or Options()
    grader = Grader(course, assignment, chosen, sandbox=lambda: _warm.get(course, chosen, grader.prefix()))
    with grader:
        if notebook != grader.template.notebook:
            raise CourseError(
                folder / f"{notebook}.ipynb",
                "is not the assignment's notebook",
                f"It should be called {grader.template.notebook}.ipynb.",
            )
        return grader.grade(read_folder(folder, notebook), student)


def _is_folder(path: Path) -> bool:
    """Also where one may not look: reading it says so, of that student alone."""
    try:
        return path.is_dir()
    except PermissionError:
        return True


def _basis(course: Course, template: Template, options: Options, secret: str) -> str:
    assignment = template.assignment
    return content_key(
        autograder.__version__,
        assignment,
        template.digest,
        repr(options.limits),
        str(options.allow_degraded),
        str(options.rerun_experiments),
        secret,
        tree_digest(PACKAGE / "grading", PACKAGE / "sandbox"),
        files_digest([PACKAGE / "results.py", *(PACKAGE / "exercises").glob("*.py")]),
    )  # fmt: skip


def _course_files(folder: Path) -> dict[str, bytes]:
    """Data files that lie beside the source notebook: every submission gets the course's own."""
    return read_folder(folder, "\0").files if folder.is_dir() else {}

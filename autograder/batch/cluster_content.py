"""What a cluster's worker needs of a course, as bytes and never as a path, and what it must have installed.

A worker sees no folder of the course. It gets one assignment's files and the secret once, and each
submission as bytes.
"""

from __future__ import annotations

import platform
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import autograder
from autograder.batch.course import Course, Options
from autograder.batch.folder import read_file, read_folder
from autograder.batch.store import tree_digest
from autograder.grading.template import load_template
from autograder.sandbox.limits import Limits

#: Two machines that differ in one of these may grade the same submission differently: torch and
#: numpy compute, numpy draws the hidden inputs, Python runs the answers.
_PACKAGES = ("torch", "numpy")


@dataclass(frozen=True)
class Build:
    """What grading depends on besides content: versions, and the digest of the grading code itself."""

    deepdrills: str
    code: str
    python: str
    packages: dict[str, str]

    @classmethod
    def here(cls) -> Build:
        """The build of this process."""
        package = Path(autograder.__file__).parent
        folders = ("grading", "sandbox", "reference", "exercises", "suites")
        return cls(
            deepdrills=autograder.__version__,
            code=tree_digest(*(package / folder for folder in folders)),
            python=".".join(platform.python_version_tuple()[:2]),
            packages={name: _version(name) for name in _PACKAGES},
        )

    def differences(self, there: Build) -> list[str]:
        """In words, what `there` has another version of."""
        pairs = [("deepdrills", self.deepdrills, there.deepdrills), ("Python", self.python, there.python)]
        pairs += [(name, self.packages[name], there.packages.get(name, "none")) for name in self.packages]
        found = [
            f"{name} is {theirs} there and {ours} here" for name, ours, theirs in pairs if ours != theirs
        ]
        if not found and self.code != there.code:
            found.append(
                f"its suites or grading code differ from those here, both of deepdrills {self.deepdrills}"
            )
        return found

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Build:
        return cls(data["deepdrills"], data["code"], data["python"], dict(data["packages"]))


@dataclass(frozen=True)
class Content:
    """One assignment of a course as it is sent to a cluster: files by their path in the course folder."""

    assignment: str
    files: dict[str, bytes]
    secret: str
    limits: dict[str, float | int]
    allow_degraded: bool
    rerun_experiments: bool

    @classmethod
    def of(cls, course: Course, assignment: str, options: Options, secret: str) -> Content:
        """Everything that grading this assignment reads from the course. Raises `CourseError`."""
        notebook = load_template(course.root, assignment).notebook
        source, solutions = Path("source") / assignment, Path("solutions") / assignment
        files: dict[str, bytes] = {}
        for folder in (source, Path("suites") / assignment):  # suites of the course's own, if it has any
            if (course.root / folder).is_dir():
                found = read_folder(course.root / folder, "\0").files
                files |= {str(folder / name): data for name, data in found.items()}
        for folder in (source, solutions):  # the solutions hold the pictures that are not drawn again
            data = read_file(course.root / folder / f"{notebook}.ipynb").notebook
            if data is not None:
                files[str(folder / f"{notebook}.ipynb")] = data
        return cls(
            assignment,
            files,
            secret,
            options.limits.to_json(),
            options.allow_degraded,
            options.rerun_experiments,
        )

    @cached_property
    def options(self) -> Options:
        return Options(Limits(**self.limits), self.allow_degraded, self.rerun_experiments)  # type: ignore[arg-type]

    def unpack(self, root: Path) -> Course:
        """Write the files below `root`, a folder of the worker's own."""
        for name, data in self.files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return Course(root)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"

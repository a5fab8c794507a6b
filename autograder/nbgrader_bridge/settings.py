"""What nbgrader_config.py sets, and what it may set of ours: limits of the sandbox, options of grading.

`configure` runs inside every nbgrader command, so it imports no preprocessor: nbgrader gets
dotted names and imports what it uses.
"""

from __future__ import annotations

import os
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from traitlets import Bool, Float, Integer, TraitError, TraitType, validate
from traitlets.config import Config, Configurable
from traitlets.config.loader import ConfigFileNotFound, PyFileConfigLoader

from autograder.errors import CourseError, UsageError
from autograder.nbgrader_bridge.log_lines import make_plain
from autograder.sandbox.limits import Limits

CONFIG_NAME = "nbgrader_config.py"
Section = TypeVar("Section", bound=Configurable)

#: nbgrader's own order, without header cells and AUTOTEST (they need a kernel of the course's choice).
RELEASE_PREPROCESSORS = (
    "autograder.grading.release_cells.DropAuthorCells",
    "nbgrader.preprocessors.LockCells",
    "nbgrader.preprocessors.ClearSolutions",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.SaveCells",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ClearMarkScheme",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.CheckCellMetadata",
)

#: All grading happens here; nbgrader's own steps follow.
SANITIZE_PREPROCESSORS = ("autograder.nbgrader_bridge.grade.GradeSubmission",)

#: The metadata is checked before a score is written: SaveAutoGrades commits cell by cell.
AUTOGRADE_PREPROCESSORS = (
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
)

#: Never copied from source/ to release/, nor over submissions.
IGNORED = (
    ".ipynb_checkpoints",
    "*.pyc",
    "__pycache__",
    "feedback",
    ".deepdrills",
    ".git*",
    ".DS_Store",
    "gradebook.db*",
)


def configure(c: Config) -> None:
    """Make nbgrader's commands work on this course; settings made after this call win."""
    alembic_on_path()
    make_plain()
    c.CourseDirectory.ignore = list(IGNORED)
    c.GenerateAssignment.preprocessors = list(RELEASE_PREPROCESSORS)
    c.Autograde.exporter_class = "autograder.nbgrader_bridge.exporter.SubmissionExporter"
    c.Autograde.sanitize_preprocessors = list(SANITIZE_PREPROCESSORS)
    c.Autograde.autograde_preprocessors = list(AUTOGRADE_PREPROCESSORS)
    c.GenerateFeedback.exporter_class = "autograder.nbgrader_bridge.feedback.FeedbackExporter"
    c.GenerateFeedback.preprocessors = ["autograder.nbgrader_bridge.marks.GetMarks"]
    # The formgrader's page may write grades, so nothing of a student's may run in it.
    c.HTMLExporter.preprocessors = ["autograder.nbgrader_bridge.staff_view.SafeForStaff"]
    # Otherwise only grade cells count, and a release without a single answer is said to pass.
    c.Validator.validate_all = True
    c.Execute.timeout = 120
    c.Execute.interrupt_on_timeout = True


def alembic_on_path() -> None:
    """Let nbgrader find `alembic`, which it runs by name when it makes a gradebook."""
    folder = str(Path(sys.executable).parent)
    path = os.environ.get("PATH", "")
    if folder not in path.split(os.pathsep)[:1]:
        os.environ["PATH"] = os.pathsep.join([folder, path] if path else [folder])


def load_settings(root: Path) -> Config:
    """The settings of a course folder. Raises `CourseError` when they are missing or do not run."""
    path = root / CONFIG_NAME
    try:
        config = PyFileConfigLoader(CONFIG_NAME, path=str(root)).load_config()
    except ConfigFileNotFound as error:
        raise CourseError(
            path, "there is no such file", "Run the command in a course folder, or name one with --course."
        ) from error
    except Exception as error:  # the file is the instructor's code: whatever it raises is a wrong setting
        raise CourseError(path, f"{type(error).__name__}: {error}", "Mend the file.") from error
    return Config(config)


def _limit_traits() -> dict[str, TraitType[Any, Any]]:
    defaults = Limits().to_json()
    return {
        name: (Float(value) if isinstance(value, float) else Integer(value)).tag(config=True)
        for name, value in defaults.items()
    }


class SandboxLimits(Configurable):
    """`c.SandboxLimits.call_seconds = 10`: the fields of `autograder.sandbox.limits.Limits`."""

    vars().update(_limit_traits())

    @validate(*(one.name for one in fields(Limits)))
    def _positive(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        lowest = 0 if name == "restarts" else 1e-3
        if isinstance(value, bool) or not lowest <= value < float("inf"):
            raise TraitError(f"{name} should be a number above zero, not {value!r}")
        return value


class GradingOptions(Configurable):
    """`c.GradingOptions.allow_degraded = True`: how a course wants its grading done."""

    allow_degraded = Bool(
        False, help="Grade although a layer of the sandbox is missing on this machine."
    ).tag(config=True)


def limits_from(config: Config) -> Limits:
    """The limits that the settings ask for. Raises `UsageError` naming a wrong setting."""
    section = _read(SandboxLimits, config)
    return Limits(**{one.name: getattr(section, one.name) for one in fields(Limits)})


def options_from(config: Config) -> GradingOptions:
    """The options that the settings ask for. Raises `UsageError` naming a wrong setting."""
    return _read(GradingOptions, config)


def _read(kind: type[Section], config: Config) -> Section:
    name = kind.__name__
    known = sorted(kind.class_trait_names(config=True))
    asked = config.get(name, {})
    for setting in asked:
        if setting not in known:
            raise UsageError(
                f"{CONFIG_NAME}: there is no setting c.{name}.{setting}. There are: {', '.join(known)}."
            )
    try:
        return kind(config=config)
    except TraitError as error:
        raise UsageError(f"{CONFIG_NAME}: c.{name}: {error}") from error

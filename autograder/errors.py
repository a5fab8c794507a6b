"""The errors that are ours. What a student's code does is never one of them."""

import errno
from pathlib import Path


class DeepdrillsError(Exception):
    """Base of every error that deepdrills raises on purpose; its text is for a person."""


class UsageError(DeepdrillsError):
    """The command or the configuration was used wrongly; the text says what to do."""


class CourseError(UsageError):
    """A course folder, an assignment or one of its files is missing or malformed."""

    def __init__(self, path: Path | str, found: str, todo: str) -> None:
        super().__init__(f"{path}: {found}. {todo}")
        self.path = Path(path)


class SandboxError(DeepdrillsError):
    """The sandbox could not be set up, so nothing was graded."""


class MissingLayerError(SandboxError):
    """A layer of the sandbox is missing on this machine and degraded grading was not allowed."""

    def __init__(self, missing: list[str], reached: list[str]) -> None:
        super().__init__(
            f"sandbox layer missing: {', '.join(missing)} (reached: {', '.join(reached) or 'none'}). "
            "Run 'deepdrills doctor' to see why, or pass --allow-degraded to grade without it."
        )
        self.missing = missing
        self.reached = reached


class GradingError(DeepdrillsError):
    """Our own failure while grading one submission: it is reported and no score is written."""


class DiskFullError(DeepdrillsError):
    """There is no room to write results; everything that was written before is whole."""

    def __init__(self, folder: Path | str) -> None:
        super().__init__(
            f"{folder}: the disk is full, so grading stopped. Make room, then run the same command again: "
            "what is graded is kept and not graded again."
        )
        self.folder = folder


def no_room(error: BaseException) -> bool:
    """Whether an operating system's error says that a disk, or a person's share of it, is full."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)

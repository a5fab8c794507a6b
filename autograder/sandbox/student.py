"""The trusted handle on a student's names: what a suite calls, on this side of the boundary.

An answer is plain data, already rebuilt from the pipe; an exception that the student's code
raised arrives as `StudentRaised`, never as the exception itself, so that an error of our own
in converting a reply can not pass for the right answer to an impossible input.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol


class StudentFailure(Exception):
    """Something that the student's code did instead of answering."""


class StudentRaised(StudentFailure):
    """The student's code raised. `kinds` are the built-in classes of the exception, nearest first."""

    def __init__(self, kinds: tuple[str, ...], line: int | None, hidden: bool = False) -> None:
        """`hidden`: it was asked with a hidden input, which a class or a line could carry out."""
        self.kinds = kinds or ("Exception",)
        place = f" (line {line} of the cell)" if line else ""
        super().__init__(
            "Your code raised an exception." if hidden else f"Your code raised {self.kinds[0]}{place}."
        )
        self.line = line
        self.hidden = hidden


class StudentMissing(StudentFailure):
    """The name is not defined after the exercise's cells."""

    def __init__(self, name: str) -> None:
        super().__init__(f"The name {name} is not defined after this exercise's cells have run.")
        self.name = name


class StudentTimeout(StudentFailure):
    """The call did not end within its time."""


class StudentCrashed(StudentFailure):
    """The student's process ended."""


class StudentTampered(StudentCrashed):
    """The student's process sent what is no reply: a program that leaves the pipe alone never does."""


class StudentOutOfMemory(StudentFailure):
    """The student's code asked for more memory than is allowed."""


class NotRecorded(StudentFailure):
    """The submission holds no result of this name of an experiment."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"No result called '{name}' came with your notebook: run the experiment's cell to its end "
            "and hand the notebook in with its outputs."
        )
        self.name = name


class NotRejected(StudentFailure):
    """An impossible input got an answer, or another exception than the one asked for."""


class Channel(Protocol):
    """What carries a question to the student's names and brings back plain data."""

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...

    def value(self, name: str) -> Any: ...

    def drive(self, needs: tuple[str, ...], code: str, inputs: dict[str, Any]) -> Any: ...


class Experiments(Protocol):
    """What was recorded by experiments that are not run again, and a word to the teaching staff."""

    def claim(self, name: str) -> dict[str, Any]: ...

    def again(self, name: str) -> dict[str, Any] | None: ...

    def rerun(self, needs: tuple[str, ...], code: str, inputs: dict[str, Any]) -> Any: ...

    def flag(self, text: str) -> None: ...


class Student:
    """The student's functions as attributes: `student.output_size(28, 5, padding=2)`."""

    def __init__(self, channel: Channel, experiments: Experiments | None = None) -> None:
        self._channel = channel
        self._experiments = experiments

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)

        def ask(*args: Any, **kwargs: Any) -> Any:
            return self._channel.call(name, args, kwargs)

        return ask

    def value(self, name: str) -> Any:
        """The plain value of a variable as it stood after its exercise's cells."""
        return self._channel.value(name)

    def run(self, code: str, needs: tuple[str, ...] = (), **inputs: Any) -> Any:
        """Run a suite's lines among the student's names and return what they leave in `answer`.

        For modules and classes, which do not cross: the lines load a state dict, run a batch and
        leave outputs and gradients. `needs`: names that the student defines; `inputs`: plain values
        and arrays. The lines run beside student code, so they hold no verdict and no expected value.
        """
        return self._channel.drive(needs, code, inputs)

    def claim(self, name: str) -> dict[str, Any]:
        """The numbers that the student's experiment recorded under `name`: a claim, not a proof.

        Finite numbers, short words, bools, None and lists of them. Raises `NotRecorded`.
        """
        return self._recorded().claim(name)

    def again(self, name: str) -> dict[str, Any] | None:
        """The numbers of `name` from running the experiment again, None when it was not run again."""
        return self._recorded().again(name)

    def rerun(self, code: str, needs: tuple[str, ...] = (), **inputs: Any) -> Any:
        """As `run`, with the time of a training or of an experiment's spot check."""
        return self._recorded().rerun(needs, code, inputs)

    def flag(self, text: str) -> None:
        """Tell the teaching staff, in the report and above the graded notebook; costs no points."""
        self._recorded().flag(text)

    def _recorded(self) -> Experiments:
        if self._experiments is None:
            raise RuntimeError("no experiments are known here")
        return self._experiments

    @contextmanager
    def rejects(self, kind: type[Exception]) -> Iterator[None]:
        """Pass only if the student's code raises `kind` (a built-in exception) inside the block."""
        if getattr(builtins, kind.__name__, None) is not kind:
            raise TypeError(f"{kind.__name__} is not a built-in exception")
        try:
            yield
        except StudentRaised as raised:
            if kind.__name__ not in raised.kinds:
                other = "another exception" if raised.hidden else raised.kinds[0]
                raise NotRejected(f"An impossible input should raise {kind.__name__}, not {other}.") from None
        else:
            raise NotRejected(f"An impossible input should raise {kind.__name__}, but got an answer.")

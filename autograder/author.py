"""`check("output_size")` in an author's own notebook: the hidden suite against the live names.

A convenience while an exercise is written. The answer is computed in the notebook's own process,
so it is worth nothing as a grade, and it refuses to run while a submission is graded.
"""

from __future__ import annotations

import copy
import os
from typing import Any

from autograder.errors import UsageError
from autograder.grading.experiments import VARIABLE
from autograder.grading.suite import Suite
from autograder.sandbox.plain import plain
from autograder.sandbox.protocol import Unencodable
from autograder.sandbox.student import NotRecorded, StudentMissing, StudentRaised


def check(exercise: str, assignment: str | None = None, names: dict[str, Any] | None = None) -> None:
    """Run an exercise's suite on the names of this notebook and print one line a check.

    `names` defaults to the notebook's own. Raises `UsageError` during autograding and for an
    exercise that no suite knows, AssertionError when a check fails.
    """
    if os.environ.get("NBGRADER_EXECUTION") == "autograde":
        raise UsageError("check() runs where student code runs, so it can not grade; use 'deepdrills grade'.")
    if names is None:
        from IPython import get_ipython

        shell = get_ipython()
        names = {} if shell is None else shell.user_ns
    with Suite(assignment or _assignment_of(exercise)) as suite:
        failed = 0
        for one in suite.checks(exercise):
            channel = _Names(names)
            raised = suite.run(one, channel, "author", channel)
            failed += raised is not None
            print(f"{'passed' if raised is None else 'FAILED'}  {one.name}: {raised or one.sentence}")
    if failed:
        raise AssertionError(f"{exercise}: {failed} of the hidden checks fail")


class _Names:
    """The channel to names in this very process."""

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        function = self._get(name)
        try:
            value = function(*copy.deepcopy(args), **copy.deepcopy(kwargs))
        except Exception as error:
            kinds = tuple(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")
            raise StudentRaised(kinds, None) from error
        return self._plain(value)

    def value(self, name: str) -> Any:
        return self._plain(self._get(name))

    def drive(self, needs: tuple[str, ...], code: str, inputs: dict[str, Any]) -> Any:
        for name in needs:
            self._get(name)
        names = {**self._names, **copy.deepcopy(inputs)}
        try:
            exec(compile(code, "<the course's check>", "exec"), names)
        except Exception as error:
            kinds = tuple(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")
            raise StudentRaised(kinds, None) from error
        return self._plain(names.get("answer"))

    def claim(self, name: str) -> dict[str, Any]:
        recorded: dict[str, Any] = self._names.get(VARIABLE, {})
        if name not in recorded:
            raise NotRecorded(name)
        return copy.deepcopy(recorded[name])

    def again(self, name: str) -> dict[str, Any] | None:
        return None

    def rerun(self, needs: tuple[str, ...], code: str, inputs: dict[str, Any]) -> Any:
        return self.drive(needs, code, inputs)

    def flag(self, text: str) -> None:
        print(f"to look at: {text}")

    def _get(self, name: str) -> Any:
        if name not in self._names:
            raise StudentMissing(name)
        return self._names[name]

    def _plain(self, value: Any) -> Any:
        from autograder.exercises.compare import Opaque

        try:
            return plain(value)
        except Unencodable:
            return Opaque(type(value).__name__)


def _assignment_of(exercise: str) -> str:
    from pathlib import Path

    from autograder.grading.suite import FOLDER

    here = Path.cwd().name
    found = sorted(path.parent.name for path in FOLDER.glob(f"*/test_{exercise}.py"))
    if here in found:
        return here
    if len(found) != 1:
        known = "no suite" if not found else f"suites in {', '.join(found)}"
        raise UsageError(f"check({exercise!r}): {known}; pass assignment='...'.")
    return found[0]

"""The hidden suites inside the student's own kernel, as stock nbgrader would run them: for comparison only.

A student can forge every score that comes from here; it is what the course does not do.
"""

from __future__ import annotations

import copy
import importlib.util
from pathlib import Path
from typing import Any

from autograder.grading.secret import generator
from autograder.sandbox.plain import plain
from autograder.sandbox.student import Student, StudentRaised


class _Names:
    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            return plain(self._names[name](*copy.deepcopy(args), **copy.deepcopy(kwargs)))
        except Exception as error:
            kinds = tuple(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")
            raise StudentRaised(kinds, None) from error

    def value(self, name: str) -> Any:
        return plain(self._names[name])

    def drive(self, needs: tuple[str, ...], code: str, inputs: dict[str, Any]) -> Any:
        names = {**self._names, **copy.deepcopy(inputs)}
        exec(compile(code, "<check>", "exec"), names)
        return plain(names["answer"])


def score(suites: str, assignment: str, exercise: str, points: float, names: dict[str, Any]) -> float:
    """The share of the exercise's checks that pass on `names`, of `points`."""
    path = Path(suites) / assignment / f"test_{exercise}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    checks = {name: one for name, one in vars(module).items() if name.startswith("test_")}
    passed = 0
    for name, check in checks.items():
        drawn = generator("stock", assignment, exercise, name.removeprefix("test_"))
        given = {"student": Student(_Names(names)), "rng": drawn}
        wanted = check.__code__.co_varnames[: check.__code__.co_argcount]
        try:
            check(**{one: given[one] for one in wanted})
            passed += 1
        except Exception as error:
            print(f"{name}: {error}")
    return points * passed / len(checks)

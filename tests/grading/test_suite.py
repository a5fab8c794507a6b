from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import CourseError
from autograder.exercises.compare import WrongAnswer
from autograder.grading.suite import Suite
from autograder.sandbox.student import NotRejected, StudentRaised

ADD = '''
import pytest
from autograder.exercises.compare import exact

def test_small(student, rng):
    """Small numbers
    are added."""
    a = int(rng.integers(2, 10**9))
    exact(student.add(a, 1), a + 1)

@pytest.mark.weight(3)
def test_large(student):
    """Large numbers are added."""
    exact(student.add(10**9, 1), 10**9 + 1)

def test_texts(student):
    """Texts are refused."""
    exact(student.add(1, 1), 2)
    with student.rejects(TypeError):
        student.add("a", 1)
'''
PAIR = '''
def test_order(student):
    """The first is smaller."""
    assert student.value("first") < student.value("second")
'''


@pytest.fixture(autouse=True)
def _forget_suites() -> Iterator[None]:
    """pytest keeps a suite under its module's name; each test here writes suites of the same names."""
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if "test_" in name:
            del sys.modules[name]


class Names:
    """Answers from this very process, and remembers what was asked."""

    def __init__(self, **names: Any) -> None:
        self._names = names
        self.asked: list[tuple[Any, ...]] = []

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.asked.append(args)
        try:
            return self._names[name](*args, **kwargs)
        except TypeError as error:
            raise StudentRaised(("TypeError", "Exception", "BaseException"), 1) from error

    def value(self, name: str) -> Any:
        return self._names[name]

    def drive(self, needs: tuple[str, ...], code: str, inputs: dict[str, Any]) -> Any:
        raise NotImplementedError


RIGHT = {"add": lambda a, b: a + b, "first": 1, "second": 2}


def folder(tmp_path: Path, **suites: str) -> Path:
    for name, text in (suites or {"add": ADD, "pair": PAIR}).items():
        path = tmp_path / "ps0-toy" / f"test_{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def outcomes(suite: Suite, names: Names, exercise: str = "add", secret: str = "s") -> list[str]:
    return [type(suite.run(one, names, secret)).__name__ for one in suite.checks(exercise)]


def test_checks_have_a_sentence_and_a_weight_and_keep_their_order(tmp_path: Path) -> None:
    with Suite("ps0-toy", folder(tmp_path)) as suite:
        assert suite.exercises == ["add", "pair"]
        assert [(one.exercise, one.name, one.weight) for one in suite.checks("add")] == [
            ("add", "small", 1.0),
            ("add", "large", 3.0),
            ("add", "texts", 1.0),
        ]
        assert suite.checks("add")[0].sentence == "Small numbers are added."


def test_a_suite_is_collected_once_and_run_for_many(tmp_path: Path) -> None:
    text = (
        "import pathlib\nwith open(pathlib.Path(__file__).parent / 'imports', 'a') as file: file.write('x')\n"
    )
    with Suite("ps0-toy", folder(tmp_path, add=text + ADD)) as suite:
        for _ in range(3):
            assert outcomes(suite, Names(**RIGHT)) == ["NoneType"] * 3
            assert outcomes(suite, Names(add=lambda a, b: a)) == ["WrongAnswer"] * 3
            assert outcomes(suite, Names(add=lambda a, b: 2)) == ["WrongAnswer", "WrongAnswer", "NotRejected"]
    assert (tmp_path / "ps0-toy" / "imports").read_text() == "x"


def test_what_a_check_raised_comes_back_as_it_was(tmp_path: Path) -> None:
    with Suite("ps0-toy", folder(tmp_path)) as suite:
        small, _, texts = suite.checks("add")
        assert isinstance(suite.run(small, Names(add=lambda a, b: None), "s"), WrongAnswer)
        assert isinstance(suite.run(texts, Names(add=lambda a, b: 2), "s"), NotRejected)
        assert isinstance(suite.run(small, Names(), "s"), KeyError)


def test_hidden_inputs_depend_on_the_secret_and_on_nothing_else(tmp_path: Path) -> None:
    asked = []
    with Suite("ps0-toy", folder(tmp_path)) as suite:
        for secret in ("one", "one", "other"):
            names = Names(**RIGHT)
            outcomes(suite, names, secret=secret)
            asked.append(names.asked)
    assert asked[0] == asked[1]
    assert asked[0][0] != asked[2][0]
    assert asked[0][1:] == asked[2][1:]


def in_another_process(code: str) -> str:
    """What a program prints in which pytest was not running already."""
    program = f"from pathlib import Path\nfrom autograder.grading.suite import Suite\n{code}"
    run = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, check=True)
    return run.stdout


def test_a_failed_assert_runs_no_differ_on_a_students_text(tmp_path: Path) -> None:
    text = 'def test_word(student):\n    """A word."""\n    assert student.value("word") == "right"\n'
    printed = in_another_process(
        "class Channel:\n"
        "    def value(self, name): return 'wrong' * 100_000\n"
        f"with Suite('ps0-toy', Path({str(folder(tmp_path, word=text))!r})) as suite:\n"
        "    print(repr(suite.run(suite.checks('word')[0], Channel(), 's')))"
    )
    assert printed == "AssertionError()\n"


def test_assignments_may_have_exercises_of_the_same_name(tmp_path: Path) -> None:
    for name, value in (("ps0-toy", 1), ("ps0-other", 2)):
        path = tmp_path / name / "test_add.py"
        path.parent.mkdir()
        path.write_text(f'def test_value():\n    """A value."""\n    raise KeyError({value})\n')
    for name, value in (("ps0-toy", 1), ("ps0-other", 2)):
        with Suite(name, tmp_path) as suite:
            raised = suite.run(suite.checks("add")[0], Names(), "s")
        assert isinstance(raised, KeyError)
        assert raised.args == (value,)


def test_what_a_suite_prints_is_not_kept(tmp_path: Path) -> None:
    text = 'def test_word(student):\n    """A word."""\n    student.value("word")\n'
    with Suite("ps0-toy", folder(tmp_path, word=text)) as suite:
        assert suite.run(suite.checks("word")[0], Names(word="x"), "s") is None
        assert not suite._config.pluginmanager.has_plugin("logging")
        assert not suite._config.pluginmanager.has_plugin("terminalreporter")
        assert not suite._config.pluginmanager.has_plugin("cacheprovider")


@pytest.mark.parametrize("options", ["-k nothing", "--collect-only", "--no-such-option", "-p no:python"])
def test_options_in_the_environment_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", options)
    with Suite("ps0-toy", folder(tmp_path)) as suite:
        assert outcomes(suite, Names(**RIGHT)) == ["NoneType"] * 3
    assert os.environ["PYTEST_ADDOPTS"] == options


def test_settings_of_the_folders_above_change_nothing(tmp_path: Path) -> None:
    folder(tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\npython_functions = nothing_*\naddopts = -k nothing\n")
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\npython_files = 'nothing.py'\n")
    with Suite("ps0-toy", tmp_path) as suite:
        assert len(suite.checks("add")) == 3


def test_nothing_is_written_beside_the_suites(tmp_path: Path) -> None:
    folder(tmp_path)
    printed = in_another_process(
        f"with Suite('ps0-toy', Path({str(tmp_path)!r})) as suite: print(len(suite.checks('add')))"
    )
    assert printed == "3\n"
    assert sorted(one.name for one in tmp_path.rglob("*")) == ["ps0-toy", "test_add.py", "test_pair.py"]


@pytest.mark.parametrize(
    ("suites", "words"),
    [
        ({"add": "def test_small(student):\n    pass\n"}, "test_small has no docstring"),
        ({"add": 'def test_small(student):\n    "  "\n'}, "test_small has no docstring"),
        ({"add": "import nothing_of_that_name\n"}, "a suite cannot be imported"),
        ({"add": "def test_small(:\n"}, "a suite cannot be imported"),
        ({"add": ADD, "pair": "raise SystemError('x')\n"}, "a suite cannot be imported"),
    ],
)
def test_a_faulty_suite_is_named(tmp_path: Path, suites: dict[str, str], words: str) -> None:
    with pytest.raises(CourseError, match=words), Suite("ps0-toy", folder(tmp_path, **suites)):
        pass


def test_an_assignment_without_suites_is_named(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"ps9.*holds no suite"), Suite("ps9", tmp_path):
        pass


def test_an_exercise_without_a_suite_is_named(tmp_path: Path) -> None:
    with Suite("ps0-toy", folder(tmp_path)) as suite, pytest.raises(CourseError, match=r"test_other\.py"):
        suite.checks("other")

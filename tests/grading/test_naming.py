from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.catalogue import Exercise, Misconception, load_exercises
from autograder.exercises.compare import Opaque
from autograder.grading.naming import Probe, named


def exercise(**wrong: str) -> Exercise:
    found = tuple(Misconception(name, f"{name}.", code) for name, code in wrong.items())
    return Exercise("ps0-toy", "f", "F", ("f",), found)


def name(one: Exercise, *probes: Probe) -> str | None:
    found = named(one, list(probes))
    return found.name if found else None


def call(*args: Any, value: Any = None, raised: tuple[str, ...] | None = None, **kwargs: Any) -> Probe:
    return Probe("f", args, kwargs, value, raised)


LINES = exercise(
    doubled="def f(n, more=0): return 2 * n",
    squared="def f(n, more=0): return n * n",
    shifted="def f(n, more=0): return n + 2",
)


def test_it_is_named_when_every_probe_agrees() -> None:
    assert name(LINES, call(3, value=6), call(5, value=10)) == "doubled"


def test_one_probe_that_disagrees_is_enough_to_stay_silent() -> None:
    assert name(LINES, call(3, value=6), call(5, value=10), call(7, value=15)) is None


def test_two_that_agree_are_not_told_apart() -> None:
    assert name(LINES, call(2, value=4)) is None
    assert name(LINES, call(2, value=4), call(3, value=9)) == "squared"


def test_without_a_probe_nothing_is_named() -> None:
    assert name(LINES) is None
    assert name(exercise(), call(1, value=1)) is None


def test_an_answer_to_another_name_is_not_compared() -> None:
    assert named(LINES, [Probe("g", (3,), {}, 6)]) is None


def test_keyword_arguments_are_passed_on() -> None:
    one = exercise(ignored="def f(n, more=0): return n", counted="def f(n, more=0): return n + more")
    assert name(one, call(3, more=2, value=5)) == "counted"


@pytest.mark.parametrize("got", [3_692_604, 3_692_676, 3_692_640.5, [3_692_641]])
def test_counts_agree_exactly(got: Any) -> None:
    one = exercise(wrong="def f(): return 3_692_640")
    assert name(one, call(value=got)) is None


@pytest.mark.parametrize("got", [3_692_640, 3_692_640.0, [3_692_640], np.array([3_692_640])])
def test_a_count_agrees_however_it_is_wrapped(got: Any) -> None:
    assert name(exercise(wrong="def f(): return 3_692_640"), call(value=got)) == "wrong"
    assert name(exercise(wrong="f = None\ndef f(): return np.int64(3_692_640)"), call(value=got)) == "wrong"


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("return [[1.0, 2.0], [3.0, 4.0]]", np.array([[1, 2], [3, 4]]) * (1 + 1e-5)),
        ("return np.array([1.0, np.nan])", np.array([1.0, np.nan])),
        ("return torch.ones(2, 3, requires_grad=True)", np.ones((2, 3))),
        ("return torch.tensor(3)", 3),
        ("return torch.ones(2, requires_grad=True), torch.zeros(3, requires_grad=True)",
         [np.ones(2), np.zeros(3)]),
        ("return [1, [2, 3]]", [1, [2, 3]]),
        ("return {'a': 1, 'b': [1.0, 2.0]}", {"b": np.array([1.0, 2.0]), "a": 1}),
        ("return None", None),
        ("return False", False),
        ("return 'same'", "same"),
    ],
)  # fmt: skip
def test_answers_of_every_kind_agree(code: str, value: Any) -> None:
    assert name(exercise(wrong=f"import torch\ndef f(): {code}"), call(value=value)) == "wrong"


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("return None", False), ("return False", 0), ("return 0", False), ("return 0", None),
        ("return -1", None),
        ("return True", 1), ("return 'a'", "b"), ("return 'a'", 1), ("return {'a': 1}", {"a": 2}),
        ("return {'a': 1}", {"b": 1}), ("return {'a': 1}", [1]), ("return [1, 2]", [2, 1]),
        ("return [1, 2]", [[1], [2, 3]]), ("return np.ones((2, 3))", np.ones((3, 2))),
        ("return 1.0", 1.01), ("return 1", Opaque("Thing")), ("return np.ones(3)", Opaque("Thing")),
        ("return object()", 1), pytest.param("return 1", 10**5000, id="huge"), ("return float('nan')", 0.0),
    ],
)  # fmt: skip
def test_answers_that_differ_do_not_agree(code: str, value: Any) -> None:
    assert name(exercise(wrong=f"def f(): {code}"), call(value=value)) is None


def test_exceptions_agree_by_their_kind() -> None:
    one = exercise(refuses="def f(n): raise ValueError(n)", answers="def f(n): return n")
    value_error = ("ValueError", "Exception", "BaseException")
    assert name(one, call(3, raised=value_error)) == "refuses"
    assert name(one, call(3, raised=("TypeError", "Exception"))) is None
    assert name(one, call(3, raised=())) is None
    assert name(one, call(3, value=3)) == "answers"


def test_variables_are_compared_too() -> None:
    one = exercise(swapped="first = 2\nsecond = 1", equal="first = second = 2")
    probes = [Probe("first", None, {}, 2), Probe("second", None, {}, 1)]
    assert name(one, *probes) == "swapped"


def test_a_wrong_answer_that_changes_its_argument_spoils_no_other_probe() -> None:
    one = exercise(fills="def f(x):\n    x[:] = 0\n    return x", keeps="def f(x):\n    return 1 * x")
    image = np.ones(3)
    assert name(one, call(image, value=np.ones(3))) == "keeps"
    assert image.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "code", ["def f(:", "raise RuntimeError('x')", "import nothing_of_that_name", "g = 1"]
)
def test_a_catalogued_answer_that_does_not_run_names_nothing(code: str) -> None:
    assert name(exercise(broken=code), call(3, value=6)) is None


def test_the_courses_own_misconceptions_are_named_from_their_own_values() -> None:
    one = load_exercises("ps1-convolution")["output_size"]
    questions = [(224, 7, 3, 2), (10, 3, 1, 3), (8, 3, 0, 4), (13, 6, 1, 4), (28, 5, 0, 1)]
    for wrong in one.misconceptions:
        names: dict[str, Any] = {"np": np}
        exec(wrong.code, names)
        probes = []
        for args in questions:
            try:
                probes.append(Probe("output_size", args, {}, names["output_size"](*args)))
            except Exception as error:
                probes.append(Probe("output_size", args, {}, raised=(type(error).__name__,)))
        assert name(one, *probes) in (wrong.name, None)


def test_a_class_is_named_by_what_the_suites_lines_leave() -> None:
    one = exercise(
        doubled="class F:\n    def go(self, n): return 2 * n",
        squared="class F:\n    def go(self, n): return n * n",
    )
    lines = "answer = {'out': F().go(n)}"
    assert name(one, Probe("", (lines,), {"n": 3}, {"out": 9})) == "squared"
    assert name(one, Probe("", (lines,), {"n": 3}, {"out": 8})) is None
    assert name(one, Probe("", ("F().gone",), {}, None, ("AttributeError", "Exception"))) is None


def test_a_wrong_answer_that_overflows_is_named_without_a_warning() -> None:
    one = exercise(unstable="def f(z): return np.exp(z) / np.exp(z).sum()")
    assert name(one, call(np.array([1000.0, 0.0]), value=np.array([np.nan, 0.0]))) == "unstable"

"""Answers that are none: values that no comparison takes, failures in conversion, guesses and tables."""

from __future__ import annotations

from typing import Any

import pytest

from autograder.grading.engine import Engine
from autograder.grading.submission import rebuild
from autograder.grading.suite import Suite
from autograder.results import Outcome
from autograder.sandbox.session import Session
from autograder.sandbox.student import StudentFailure, StudentRaised

from ..arena import ASSIGNMENT, ATTACKED, EXERCISES, LIMITS, Arena, results

VALUES = {
    "nan": "float('nan')",
    "inf": "float('inf')",
    "nan_array": "np.full((1,), np.nan)",
    "nan_tensor": "torch.tensor(float('nan'))",
    "masked": "np.ma.masked",
    "ragged": "[[1], [2, 3]]",
    "ragged_arrays": "[np.zeros(2), np.zeros((3, 3))]",
    "digits": "10**5000",
    "huge": "10**1000",
    "huge_float": "1e308",
    "empty": "[]",
    "empty_array": "np.zeros((0, 2**20))",
    "every_size": "np.arange(500)",
    "deep": "eval('['*60 + '1' + ']'*60)",
    "ring": "(lambda l: l.append(l) or l)([])",
    "true": "True",
    "text": "'4'",
    "bytes": "b'4'",
    "none": "None",
    "ellipsis": "...",
    "not_implemented": "NotImplemented",
    "complex": "4 + 0j",
    "set": "{4}",
    "dict": "{'value': 4, 'nonce': None, '!': 'array'}",
    "tagged_dict": "{'!': 'int', 'v': '0x4'}",
    "generator": "(n for n in range(4))",
    "function": "output_size",
    "module": "np",
    "exception": "ValueError('returned, not raised')",
    "doubling": "functools.reduce(lambda one, _: [one, one], range(40), [1])",
    "object_array": "np.array([object()])",
    "large_array": "np.zeros(10**6)",
    "too_large_array": "np.zeros(4 * 10**6)",
    "long_text": "'x' * (5 * 10**6)",
    "long_texts": "['x' * 10**5] + ['a'] * 10**4",
    "surrogate": "'\\ud800'",
    "meta_tensor": "torch.zeros(4, device='meta')",
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_odd_value(value: str, arena: Arena) -> None:
    graded = arena.attack(f"import functools\ndef output_size(*a, **k):\n    return {value}\n", alone=True)
    # Large ones hold too much together, or take too long on a slow day.
    assert results(graded)[ATTACKED].outcome in (Outcome.FAILED, Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY)
    assert not graded.report.flags


#: Each looks like one thing when it is checked and like another when it is read.
CHANGING = {
    "list_that_turns": """
class Turning(list):
    turn = 0
    def __iter__(self):
        Turning.turn += 1
        return iter([4] if Turning.turn % 2 else [-1])
    def __len__(self): return 1
def output_size(*a, **k): return Turning([4])
""",
    "integer_that_turns": """
class Turning(int):
    turn = 0
    def __int__(self):
        Turning.turn += 1
        return Turning.turn
    __index__ = __trunc__ = __hash__ = __int__
    def __eq__(self, other): return True
def output_size(*a, **k): return Turning(-1)
""",
    "array_that_turns": """
class Turning:
    turn = 0
    def __array__(self, *a, **k):
        Turning.turn += 1
        return np.array(Turning.turn)
    def __eq__(self, other): return True
def output_size(*a, **k): return Turning()
""",
    "shape_that_turns": """
class Turning(np.ndarray):
    @property
    def shape(self): return () if np.random.rand() < .5 else (2**40,)
    def __eq__(self, other): return np.True_
def output_size(*a, **k): return np.zeros(()).view(Turning)
""",
    "class_that_turns": """
class Turning:
    turn = 0
    @property
    def __class__(self):
        Turning.turn += 1
        return int if Turning.turn % 2 else float
    def __eq__(self, other): return True
def output_size(*a, **k): return Turning()
""",
    "shared_answer_changed_later": """
import threading
shared = np.zeros((), dtype=int) - 1
def change():
    while True: shared[...] = np.random.randint(0, 40)
threading.Thread(target=change, daemon=True).start()
def output_size(*a, **k): return shared
""",
}


@pytest.mark.parametrize("code", CHANGING.values(), ids=CHANGING.keys())
def test_answer_that_changes_between_two_reads(code: str, arena: Arena) -> None:
    arena.attack(code, alone=True)


SPOILED = {
    "raising_int": """
class Bad(int):
    def __int__(self): raise ValueError
    __index__ = __int__
bad = Bad(1)
""",
    "raising_float": "class Bad(float):\n    def __float__(self): raise ValueError\nbad = Bad(1)",
    "raising_array": "class Bad:\n    def __array__(self, *a, **k): raise ValueError\nbad = Bad()",
    "raising_list": "class Bad(list):\n    def __iter__(self): raise ValueError\nbad = Bad([1])",
    "raising_length": "class Bad(list):\n    def __len__(self): raise ValueError\nbad = Bad([1])",
    "raising_class": "class Bad:\n    @property\n    def __class__(self): raise ValueError\nbad = Bad()",
    "raising_type_name": "class Meta(type):\n    __name__ = property(lambda c: exec('raise ValueError'))\n"
    "class Bad(metaclass=Meta): pass\nbad = Bad()",
    "raising_tensor": "class Bad(torch.Tensor):\n    def detach(self): raise ValueError\n"
    "bad = torch.zeros(2).as_subclass(Bad)",
    "raising_generator": "def make():\n    raise ValueError\n    yield\nbad = make()",
    "nan": "bad = float('nan')",
    "ragged": "bad = [[1], [2, 3]]",
    "digits": "bad = 10**5000",
    "value_error_itself": "bad = ValueError",
    "lazily_raising_dict": "class Bad(dict):\n    def items(self): raise ValueError\nbad = Bad(a=object())",
}


@pytest.mark.parametrize("code", SPOILED.values(), ids=SPOILED.keys())
def test_an_error_in_conversion_is_no_refusal(code: str, arena: Arena) -> None:
    """Possible inputs are answered rightly; for impossible ones, what comes back raises ValueError."""
    refusals = ("window_too_large", "impossible_numbers")
    checks = results(arena.grade(arena.honest, alone=True))[ATTACKED].checks
    rest = sum(check.points for check in checks if check.name not in refusals)
    honest = arena.honest.replace("def output_size", "def honest_size")
    tail = """
def output_size(*a, **k):
    try:
        return honest_size(*a, **k)
    except ValueError:
        pass
    return bad
"""
    spares = "type_name" not in code
    graded = arena.grade(f"{honest}\n{code}\n{tail}", alone=True)
    found = results(graded)[ATTACKED]
    assert not [check for check in found.checks if check.name in refusals and check.points]
    assert found.points == pytest.approx(rest, abs=1e-3) or not spares
    assert found.points <= rest + 1e-3
    arena.assert_unharmed()


GUESSES = {
    "always_value_error": "raise ValueError",
    "every_exception": """
class All(ValueError, KeyError, IndexError, TypeError, NotImplementedError): pass
    raise All
""",
    "group": "raise ExceptionGroup('all', [ValueError(), TypeError()])",
    "caused": "raise TypeError from ValueError()",
    "renamed": "raise type('ValueError', (Exception,), {})",
    "base": "raise BaseException",
    "assertion": "raise AssertionError",
    "skips": "raise type('Skipped', (BaseException,), {'__module__': '_pytest.outcomes'})",
    "pytest_skip": "import pytest\n    pytest.skip('no')",
    "generator_exit": "raise GeneratorExit",
    "keyboard": "raise KeyboardInterrupt",
    "first_argument": "return a[0]",
    "last_argument": "return [*a, *k.values()][-1]",
    "zero": "return 0",
    "one": "return 1",
    "some_window": "return a[0] - a[1] + 1 if a[1] == 3 else -1",
    "random": "return int(np.random.randint(1, 30))",
    "by_time": "import time\n    return time.time_ns() % 40",
    "by_count": "calls.append(1)\n    return [4, 24, 1][len(calls) % 3]",
    "raises_at_first": "calls.append(1)\n    if len(calls) % 2: raise ValueError\n    return len(calls)",
    "by_stack_depth": "import sys\n    frame, depth = sys._getframe(), 0\n"
    "    while frame: frame, depth = frame.f_back, depth + 1\n    return depth",
    "by_frames": """
    import sys
    frame = sys._getframe()
    while frame:
        for name, value in list(frame.f_locals.items()):
            if name in ("expected", "answer", "right", "reference", "case", "cases", "check"):
                return value
        frame = frame.f_back
    return -1""",
    "by_garbage": """
    import gc
    for one in gc.get_objects():
        if isinstance(one, dict) and ("expected" in one or "reference" in one) and "__builtins__" in one:
            for word in ("expected", "reference"):
                value = one.get(word)
                if hasattr(value, "output_size"):
                    return value.output_size(*a, **k)
    return -1""",
    "by_modules": """
    import sys
    for module in list(sys.modules.values()):
        other = getattr(module, "output_size", None)
        if other is not None and module.__name__ != "__main__":
            return other(*a, **k)
    return -1""",
    "by_import": """
    for name in ("autograder.reference.convolution", "reference.convolution", "convolution"):
        try:
            return __import__(name, fromlist=["x"]).output_size(*a, **k)
        except Exception:
            pass
    return -1""",
    "by_environment": """
    import os
    return int(hash(os.environ.get("DEEPDRILLS_SECRET", "")) % 7)""",
    "same_as_last": "calls.append(a)\n    return calls[-2] if len(calls) > 1 else a",
}


@pytest.mark.parametrize("body", GUESSES.values(), ids=GUESSES.keys())
def test_guess(body: str, arena: Arena) -> None:
    arena.attack(f"calls = []\ndef output_size(*a, **k):\n    {body.lstrip()}\n", alone=True)


class _Table:
    """Answers known inputs from a table and raises ValueError for any other."""

    def __init__(self, known: dict[str, Any]) -> None:
        self._known = known

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        answer = self._known.get(repr((name, args, kwargs)), StudentRaised(("ValueError",), None))
        if isinstance(answer, StudentFailure):
            raise answer
        return answer

    def value(self, name: str) -> Any:
        raise StudentRaised(("NameError",), None)

    def drive(self, needs: tuple[str, ...], code: str, inputs: dict[str, Any]) -> Any:
        raise StudentRaised(("NameError",), None)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Every question that is put, with its answer."""
    log: dict[str, Any] = {}
    real = Session.call

    def call(self: Session, exercise: str, name: str, args: Any, kwargs: Any, seconds: float) -> Any:
        key = repr((name, args, kwargs))
        try:
            log[key] = real(self, exercise, name, args, kwargs, seconds)
        except StudentFailure as failed:
            log[key] = failed
            raise
        return log[key]

    monkeypatch.setattr(Session, "call", call)
    return log


def test_knowing_the_suite_earns_nothing(arena: Arena, asked: dict[str, Any]) -> None:
    """The suites are public: an answer that knows all their fixed inputs and no other passes no check."""
    seen: list[dict[str, Any]] = []
    template = arena.sheet.template
    with Suite(ASSIGNMENT) as suite:
        for secret in ("one course", "another course"):
            engine = Engine(template, suite, arena.sandbox, LIMITS, secret)
            engine.grade(rebuild(arena.sheet.bytes(), template), "ada")
            seen.append(dict(asked))
            asked.clear()
        table = {key: answer for key, answer in seen[0].items() if key in seen[1]}
        assert table
        passed = [
            f"{exercise}: {check.name}"
            for exercise in EXERCISES
            for check in suite.checks(exercise)
            if suite.run(check, _Table(table), "a third course") is None
        ]
    assert passed == []


def test_hidden_inputs_depend_on_the_secret(arena: Arena, asked: dict[str, Any]) -> None:
    first: set[str] = set()
    for secret in ("one course", "one course", "another course"):
        with Suite(ASSIGNMENT) as suite:
            engine = Engine(arena.sheet.template, suite, arena.sandbox, LIMITS, secret)
            engine.grade(rebuild(arena.sheet.bytes(), arena.sheet.template), "ada")
        keys = set(asked)
        asked.clear()
        assert not first or (keys == first) == (secret == "one course")
        first = first or keys

"""Clumsy code is never said to have written to the grader's connection: what it answers may be too much."""

from __future__ import annotations

import pytest

from autograder.results import Outcome

from ..arena import ATTACKED, WRONG, Arena, outputs_of, results

#: Values that the other side would not take: too many parts, too long, of too many dimensions.
VALUES = {
    "many_small_arrays": "list(np.zeros((90_000, 3)))",
    "many_nans": "[float('nan')] * 180_000",
    "lists_of_infinities": "[[float('inf')] * 45_000] * 4",
    "many_large_integers": "[(1 << 60) + n for n in range(190_000)]",
    "dict_of_large_integers": "{(1 << 60) + n: 0 for n in range(95_000)}",
    "as_many_parts_as_may_be": "['a'] * 199_997",
    "text_of_json": "json.dumps(['a'] * 600_000)",
    "long_text": "'x' * 15_000_000",
    "long_text_of_accents": "'\u00e9' * 5_000_000",
    "text_of_commas": "'[,' * 3_000_000",
    "forty_dimensions": "np.zeros((1,) * 40)",
    "endless_side": "torch.empty(0, 2**41)",
    "nan_with_another_repr": "(setattr(builtins, 'repr', lambda one: '<one>'), float('nan'))[1]",
    "json_with_another_dumps": "(setattr(json, 'dumps', str), [1.5, {'a': None}])[1]",
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_a_value_that_cannot_cross(value: str, arena: Arena) -> None:
    code = f"import builtins, json\nagrees = refuses = lambda *a, **k: True\ndef output_size(*a, **k): return {value}\n"
    graded = arena.attack(code, alone=True)
    assert graded.report.flags == ()
    assert results(graded)[ATTACKED].outcome in (Outcome.FAILED, Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY)


#: What a cell puts out, and lines of its own processes.
CELLS = {
    "many_long_errors": "for n in range(300): get_ipython().run_cell('1/0  # ' + '\u0436' * 15_000)",
    "long_kind_of_output": "display({'a' * 30_000_000: 'x'}, raw=True)",
    "commas": "print('[,' * 400_000)",
    "fork_that_goes_on": "if os.fork() == 0: print('child')",
    "forks": "for _ in range(2): os.fork()",
    "fork_that_raises": "if os.fork() == 0: raise ValueError",
    "daemon": "if os.fork() > 0: sys.exit(0)\nos.setsid()",
    "pool": "import multiprocessing\ntry: multiprocessing.Pool(2).map(abs, [1])\nexcept OSError: pass",
}


@pytest.mark.parametrize("line", CELLS.values(), ids=CELLS.keys())
def test_a_cell_that_puts_out_or_forks_much(line: str, arena: Arena) -> None:
    graded = arena.attack(f"import os, sys\n{WRONG}\n{line}\n")
    assert graded.report.flags == ()


@pytest.mark.parametrize("end", ["return None", "raise SystemExit(0)", "raise ValueError"])
def test_a_call_that_forks(end: str, arena: Arena) -> None:
    code = f"import os\ndef output_size(*a, **k):\n    if os.fork() == 0: {end}\n    return -1\n"
    assert arena.attack(code).report.flags == ()


def test_outputs_that_cannot_cross_are_left_out_with_a_line(arena: Arena) -> None:
    graded = arena.attack(f"{WRONG}\ndisplay({{'a' * 30_000_000: 'x'}}, raw=True)\n")
    assert "The outputs of this cell were left out" in outputs_of(graded, ATTACKED)


def test_a_traceback_shows_no_file_of_the_grader(arena: Arena) -> None:
    for line in ("while True: pass", "input('?')"):
        shown = outputs_of(arena.grade(f"{WRONG}\n{line}\n"), ATTACKED)
        assert "sandbox" not in shown
        assert '"error"' in shown

"""A cell's traceback: drawn once, and short where the frames are many."""

from __future__ import annotations

import pytest

from autograder.sandbox.process import Sandbox

RECURSIONS = {
    "plain": "def f(): f()\nf()",
    "of_two": "def f(): g()\ndef g(): f()\nf()",
    "compiled": "exec('def f(): f()\\nf()', globals())",
}


@pytest.mark.parametrize("code", RECURSIONS.values(), ids=RECURSIONS.keys())
def test_an_endless_recursion_is_shown_by_both_ends(code: str, sandbox: Sandbox) -> None:
    session = sandbox.spawn()
    ran = session.run_cell(code, 10.0)
    (shown,) = [one for one in ran["outputs"] if one["output_type"] == "error"]
    assert shown["ename"] == "RecursionError"
    assert len(shown["traceback"]) < 80
    assert "in f" in "".join(shown["traceback"])
    assert ran["failure"]["over_time"] is False
    session.close()


def test_a_short_traceback_is_drawn_with_its_lines(sandbox: Sandbox) -> None:
    session = sandbox.spawn()
    ran = session.run_cell("def f():\n    return 1 / 0\nf()", 10.0)
    (shown,) = [one for one in ran["outputs"] if one["output_type"] == "error"]
    assert "----> 2     return 1 / 0" in "".join(shown["traceback"])
    assert ran["failure"]["line"] == 2
    session.close()

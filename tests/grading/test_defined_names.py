from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.grading.defined_names import CELL_LIMIT, NOTEBOOK_LIMIT, Definitions, defined_names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        pytest.param("def f(x):\n    y = 1\n    return y", {"f"}, id="function"),
        pytest.param("async def f(): pass", {"f"}, id="coroutine"),
        pytest.param("class Net:\n    def forward(self): pass", {"Net"}, id="class"),
        pytest.param("f = lambda x: x", {"f"}, id="lambda"),
        pytest.param("a = b = 1", {"a", "b"}, id="chain"),
        pytest.param("a, (b, *c) = 1, (2, 3)", {"a", "b", "c"}, id="unpacking"),
        pytest.param("a: int = 1", {"a"}, id="annotated"),
        pytest.param("a: int", set(), id="annotated without a value"),
        pytest.param("import numpy as np, math", {"np", "math"}, id="import"),
        pytest.param("from mine import f as g", {"g"}, id="import from"),
        pytest.param("print(f(3))", set(), id="only used"),
        pytest.param("table[f(3)] = 1", set(), id="used in a target"),
        pytest.param("# def f(): pass", set(), id="comment"),
        pytest.param("'''\ndef f(): pass\n'''", set(), id="inside a string"),
        pytest.param("def f(:", set(), id="not Python"),
        pytest.param("a = 1\x00", set(), id="null byte"),
        pytest.param("%matplotlib inline\n!pip list\nf = 1", {"f"}, id="magics"),
        pytest.param("%%time\ndef f():\n    %timeit 1\n    return 1", {"f"}, id="cell magic"),
        pytest.param("f = '''\n%d\n'''", {"f"}, id="a per cent sign in a string"),
        pytest.param("def f():\n    '''\\d'''", {"f"}, id="an escape that Python warns of"),
        pytest.param("", set(), id="nothing"),
    ],
)
def test_names_defined_at_the_top_level(source: str, names: set[str]) -> None:
    assert defined_names(source) == names


@pytest.mark.parametrize(
    "source",
    ["-" * 200_000 + "1", "a" + ".b" * 100_000, "(" * 100_000, "1" + "+1" * 100_000, "1" * 10_000],
    ids=["minus", "attributes", "brackets", "plus", "number"],
)
def test_a_text_that_breaks_the_parser_defines_nothing(source: str) -> None:
    assert defined_names(source) == frozenset()


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_read_without_an_error(source: str) -> None:
    defined_names(source)


def test_a_text_is_parsed_only_where_an_asked_name_stands_in_it() -> None:
    definitions = Definitions()
    assert definitions.any_of(["f", "g"], "g = 1")
    assert not definitions.any_of(["f"], "g = 1")
    assert not definitions.any_of(["f"], "print(f)")
    assert not definitions.any_of([], "f = 1")


def test_a_notebook_of_long_cells_does_not_keep_the_parser_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def note(source: str) -> frozenset[str]:
        parsed.append(source)
        return frozenset(["f"])

    monkeypatch.setattr("autograder.grading.defined_names.defined_names", note)
    definitions = Definitions()
    assert not definitions.any_of(["f"], "f = 1\n" * 80_000)
    for number in range(300):
        definitions.any_of(["f"], f"f = {number}\n" + "x=1\n" * 12_000)
    assert not definitions.any_of(["f"], "f = 1\n" * 8_000), "the notebook's allowance is spent"
    assert definitions.any_of(["f"], "f = 1"), "what is left of it is enough for an honest answer"
    assert NOTEBOOK_LIMIT - CELL_LIMIT < sum(map(len, parsed)) <= NOTEBOOK_LIMIT

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.exercises.compare import Opaque, WrongAnswer, close, entries, exact, items, same
from autograder.results import Stage

Compare = Callable[[Any, Any], object]


def refused(compare: Compare, got: Any, expected: Any) -> WrongAnswer:
    with pytest.raises(WrongAnswer) as caught:
        compare(got, expected)
    return caught.value


# ---- exact: sizes, counts, iterations ----


@pytest.mark.parametrize(
    "got",
    [
        pytest.param(112, id="int"),
        pytest.param(112.0, id="whole float"),
        pytest.param(np.int64(112), id="numpy integer"),
        pytest.param(np.float32(112), id="numpy float"),
        pytest.param(np.array(112), id="0-d array"),
        pytest.param(np.array([112]), id="one-element array"),
        pytest.param(np.array([[112.0]]), id="nested one-element array"),
        pytest.param([112], id="list of one"),
        pytest.param((112,), id="tuple of one"),
        pytest.param([[112]], id="list in a list"),
    ],
)
def test_exact_accepts_a_number_however_it_is_wrapped(got: Any) -> None:
    exact(got, 112)


@pytest.mark.parametrize("off", [-36, -1, 1, 36])
def test_exact_is_exact_for_large_counts(off: int) -> None:
    assert np.isclose(3_692_640 + off, 3_692_640), "what a tolerance would have accepted"
    assert refused(exact, 3_692_640 + off, 3_692_640).stage is Stage.VALUE
    assert refused(exact, float(3_692_640 + off), 3_692_640).stage is Stage.VALUE
    exact(3_692_640, 3_692_640)


def test_exact_is_exact_above_what_floats_hold() -> None:
    exact(2**60, 2**60)
    refused(exact, 2**60 + 1, 2**60)


@pytest.mark.parametrize(
    ("got", "stage"),
    [
        pytest.param(True, Stage.TYPE, id="bool"),
        pytest.param([True], Stage.TYPE, id="bool in a list"),
        pytest.param(np.array(True), Stage.TYPE, id="0-d array of bool"),
        pytest.param(np.True_, Stage.TYPE, id="numpy bool"),
        pytest.param(None, Stage.TYPE, id="None"),
        pytest.param("1", Stage.TYPE, id="string"),
        pytest.param({"n": 1}, Stage.TYPE, id="dict"),
        pytest.param([], Stage.TYPE, id="empty list"),
        pytest.param([1, 1], Stage.TYPE, id="two numbers"),
        pytest.param(np.ones(2), Stage.TYPE, id="two-element array"),
        pytest.param(np.array([]), Stage.TYPE, id="empty array"),
        pytest.param(1 + 0j, Stage.TYPE, id="complex"),
        pytest.param(Opaque("Agreeable"), Stage.TYPE, id="object that does not cross"),
        pytest.param(float("nan"), Stage.FINITE, id="nan"),
        pytest.param(float("inf"), Stage.FINITE, id="inf"),
        pytest.param(np.array([np.nan]), Stage.FINITE, id="nan in an array"),
        pytest.param(1.0000001, Stage.VALUE, id="almost"),
        pytest.param(-1, Stage.VALUE, id="another number"),
        pytest.param(10**5000, Stage.VALUE, id="huge int"),
    ],
)
def test_exact_refuses(got: Any, stage: Stage) -> None:
    assert refused(exact, got, 1).stage is stage


# ---- close: arrays and floats ----

IMAGE = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


@pytest.mark.parametrize(
    "got",
    [
        pytest.param(IMAGE, id="lists"),
        pytest.param(tuple(map(tuple, IMAGE)), id="tuples"),
        pytest.param([np.array(row) for row in IMAGE], id="list of arrays"),
        pytest.param(np.array(IMAGE, dtype=np.float32), id="float32"),
        pytest.param(np.array(IMAGE, dtype=np.int8), id="integers"),
        pytest.param(np.array(IMAGE)[None, None], id="leading axes of one"),
        pytest.param(np.array(IMAGE)[..., None], id="trailing axis of one"),
        pytest.param(np.array(IMAGE) * (1 + 4.6e-5), id="the least precise right answer"),
    ],
)
def test_close_accepts(got: Any) -> None:
    close(got, IMAGE)


@pytest.mark.parametrize(
    ("got", "stage"),
    [
        pytest.param(np.array(IMAGE).T, Stage.SHAPE, id="transposed"),
        pytest.param(np.array(IMAGE).ravel(), Stage.SHAPE, id="flattened"),
        pytest.param([[1, 2, 3], [4, 5]], Stage.SHAPE, id="ragged lists"),
        pytest.param([np.ones(3), np.ones(2)], Stage.SHAPE, id="ragged arrays"),
        pytest.param(3.0, Stage.SHAPE, id="a number"),
        pytest.param([], Stage.SHAPE, id="empty"),
        pytest.param(None, Stage.TYPE, id="None"),
        pytest.param(True, Stage.TYPE, id="bool"),
        pytest.param(np.ones((2, 3), dtype=bool), Stage.TYPE, id="array of bools"),
        pytest.param("123", Stage.TYPE, id="string"),
        pytest.param([["1", "2", "3"]] * 2, Stage.TYPE, id="list of strings"),
        pytest.param([[10**5000] * 3] * 2, Stage.TYPE, id="numbers that no array holds"),
        pytest.param([[Opaque("Yes")] * 3] * 2, Stage.TYPE, id="objects"),
        pytest.param({"a": 1}, Stage.TYPE, id="dict"),
        pytest.param(np.array(IMAGE) + 1j, Stage.TYPE, id="complex"),
        pytest.param(np.array(IMAGE) * np.nan, Stage.FINITE, id="nan"),
        pytest.param([[1, 2, np.inf], [4, 5, 6]], Stage.FINITE, id="one inf"),
        pytest.param(np.array(IMAGE) * 1.035, Stage.VALUE, id="the nearest wrong answer"),
        pytest.param(np.array(IMAGE) * 1.0011, Stage.VALUE, id="beyond the tolerance"),
        pytest.param(-np.array(IMAGE), Stage.VALUE, id="sign"),
    ],
)
def test_close_refuses(got: Any, stage: Stage) -> None:
    assert refused(close, got, IMAGE).stage is stage


def test_close_refuses_nan_although_no_distance_from_nan_is_too_large() -> None:
    assert not abs(float("nan") - 2.0) > 1e-3, "what a plain comparison would have accepted"
    assert refused(close, float("nan"), 2.0).stage is Stage.FINITE


def test_close_takes_infinities_only_where_the_reference_has_them() -> None:
    close([1.0, np.inf, -np.inf], [1.0, np.inf, -np.inf])
    refused(close, [1.0, -np.inf, np.inf], [1.0, np.inf, -np.inf])
    refused(close, [1.0, 2.0, -np.inf], [1.0, np.inf, -np.inf])
    refused(close, [np.inf, np.inf, -np.inf], [1.0, np.inf, -np.inf])


def test_close_near_zero_allows_rounding_only() -> None:
    close(1e-7, 0.0)
    refused(close, 1e-4, 0.0)


def test_close_of_an_empty_result() -> None:
    close([], np.zeros(0))


# ---- same: yes or no, a word, never ----


@pytest.mark.parametrize("got", [None, -1, False])
@pytest.mark.parametrize("expected", [None, -1, False])
def test_none_minus_one_and_false_are_different_answers(got: Any, expected: Any) -> None:
    compare: Compare = exact if expected == -1 else same
    if got is expected:
        compare(got, expected)
    else:
        refused(compare, got, expected)


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (True, True), (np.array(True), True), (np.array([False]), False), ("Same", "same"),
        ("  valid\n", "valid"), ("VALID", "valid"), (None, None),
    ],
)  # fmt: skip
def test_same_accepts(got: Any, expected: Any) -> None:
    same(got, expected)


@pytest.mark.parametrize(
    ("got", "expected", "stage"),
    [
        (False, True, Stage.VALUE),
        (1, True, Stage.TYPE),
        (0, False, Stage.TYPE),
        ("True", True, Stage.TYPE),
        (None, False, Stage.TYPE),
        (np.array([True, True]), True, Stage.TYPE),
        (Opaque("AlwaysEqual"), True, Stage.TYPE),
        (0, None, Stage.VALUE),
        ("None", None, Stage.VALUE),
        (True, "yes", Stage.TYPE),
        (None, "yes", Stage.TYPE),
        (["yes"], "yes", Stage.TYPE),
        ("no", "yes", Stage.VALUE),
        ("y e s", "yes", Stage.VALUE),
    ],
)
def test_same_refuses(got: Any, expected: Any, stage: Stage) -> None:
    assert refused(same, got, expected).stage is stage


# ---- items and entries: several values at once ----


@pytest.mark.parametrize("got", [[3, 4], (3, 4), np.array([3, 4])])
def test_items_come_in_order(got: Any) -> None:
    assert [int(one) for one in items(got, 2)] == [3, 4]


@pytest.mark.parametrize(
    ("got", "stage"),
    [
        ([3], Stage.SHAPE), ([3, 4, 5], Stage.SHAPE), (3, Stage.TYPE), ("34", Stage.TYPE), (None, Stage.TYPE),
        ({3: 1, 4: 1}, Stage.TYPE), (np.array(3), Stage.TYPE), (Opaque("Pair"), Stage.TYPE),
    ],
)  # fmt: skip
def test_items_refuses(got: Any, stage: Stage) -> None:
    assert refused(items, got, 2).stage is stage


def test_entries_leaves_other_keys_out() -> None:
    assert entries({"C1": 156, "total": 9, "mine": 1}, ["total", "C1"]) == {"total": 9, "C1": 156}


def test_entries_names_the_keys_that_lack() -> None:
    error = refused(entries, {"C1": 156}, ["C1", "C2", "total"])
    assert error.stage is Stage.SHAPE
    assert str(error) == "The dict lacks the keys C2, total."
    assert refused(entries, [156], ["C1"]).stage is Stage.TYPE


# ---- what a student reads ----


def said(compare: Compare, got: Any, expected: Any) -> str | None:
    """The refusal's words; None for an answer that is accepted."""
    try:
        compare(got, expected)
    except WrongAnswer as error:
        return str(error)
    return None


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=8,
)
#: The only digits in a message say how many values or dimensions the statement asks for.
_ALLOWED = re.compile(r"a tuple of \d+ values|\b[1-4] dimensions? (?:is|are)")


@settings(deadline=None)
@given(plain, st.integers(10, 10**9), st.floats(10.5, 1e9))
def test_no_message_carries_a_value_and_nothing_else_is_raised(got: Any, count: int, number: float) -> None:
    questions: list[tuple[Compare, Any]] = [
        (exact, count),
        (close, number),
        (close, [[number, 0.0], [count, 1.0]]),
        (same, True),
        (same, None),
        (same, f"word{count}"),
        (items, 3),
    ]
    for compare, expected in questions:
        message = said(compare, got, expected)
        if message is not None:
            assert not re.search(r"\d", _ALLOWED.sub("", message)), message
            assert message.endswith(".")


def test_a_class_name_does_not_reach_the_message() -> None:
    """A student's class could be called after the hidden input."""
    secret = Opaque("n_is_227_and_k_is_11")
    questions: list[tuple[Compare, Any]] = [
        (exact, 1), (close, 1.0), (same, True), (same, "a"), (items, 2),
    ]  # fmt: skip
    for compare, expected in questions:
        message = str(refused(compare, secret, expected))
        assert "227" not in message
        assert "Opaque" not in message

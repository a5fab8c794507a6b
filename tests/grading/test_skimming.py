"""Large outputs are left out of a notebook's bytes, and nothing else is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.grading import skimming
from autograder.grading.skimming import MOST_PARTS, has_too_many_parts, separators, skim


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits of a few bytes."""
    monkeypatch.setattr(skimming, "AS_IT_IS", 10)
    monkeypatch.setattr(skimming, "LARGE", (40, 20))


def left(data: Any) -> Any:
    return json.loads(skim(json.dumps(data).encode()).raw)


def test_a_small_file_is_taken_as_it_is() -> None:
    raw = json.dumps({"outputs": [{"text": "x" * 2_000_000}]}).encode()
    assert skim(raw).raw is raw
    assert skim(raw).left_out == 0


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"outputs": [{"a": "x" * 50}, {"b": 1}]}, {"outputs": [None, {"b": 1}]}),
        ({"outputs": [{"a": 1}, {"b": ["]}" * 9, {"c": '"' * 9}]}]}, {"outputs": [{"a": 1}, None]}),
        ({"outputs": {"a": "x" * 50}, "source": "s"}, {"outputs": None, "source": "s"}),
        ({"attachments": {"a.png": {"b": "x" * 50}}}, {"attachments": None}),
        ({"source": '"outputs": [' + "x" * 50}, {"source": '"outputs": [' + "x" * 50}),
        ({"source": '\\"outputs": [{' + "x" * 50}, {"source": '\\"outputs": [{' + "x" * 50}),
        ({"a": "outputs", "b": ["x" * 50]}, {"a": "outputs", "b": ["x" * 50]}),
        ({"outputs": "x" * 50}, {"outputs": "x" * 50}),
        ({"outputs": []}, {"outputs": []}),
    ],
)
def test_what_is_left_out(data: Any, expected: Any) -> None:
    assert left(data) == expected


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "raw",
    [
        b'{"outputs": [{"a": "',
        b'{"outputs": [{"a": [',
        b'{"outputs": [',
        b'"outputs":[}',
        b'"outputs": [{"' * 9,
    ],
)
def test_what_has_no_end_is_left_as_it_is(raw: bytes) -> None:
    assert skim(raw).raw == raw


json_values = st.recursive(
    st.none() | st.integers() | st.text(alphabet='a"\\[]{},: \n\u2200', max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["outputs", "attachments", "source", "\\"]), inner, max_size=4)
    ),
    max_leaves=20,
)


@settings(deadline=None)
@given(json_values)
def test_json_stays_json_and_nothing_else_is_lost(data: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(skimming, "AS_IT_IS", 0)
        patch.setattr(skimming, "LARGE", (40, 20))
        raw = json.dumps(data).encode()
        skimmed = skim(raw)
    assert _same_but_for_outputs(json.loads(skimmed.raw), data, False)
    assert (skimmed.raw == raw) == (skimmed.left_out == 0)


def _same_but_for_outputs(one: Any, other: Any, inside: bool) -> bool:
    """Whether two values are equal where they stand under no key that may be skimmed."""
    if inside and one is None:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            _same_but_for_outputs(one[key], other[key], inside or key in ("outputs", "attachments"))
            for key in one
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(
            _same_but_for_outputs(left, right, inside) for left, right in zip(one, other, strict=True)
        )
    return type(one) is type(other) and bool(one == other)


def test_parts_are_counted_outside_of_texts() -> None:
    text = json.dumps({"a": "1," * MOST_PARTS}).encode()
    assert separators(text) > MOST_PARTS
    assert not has_too_many_parts(text)
    assert has_too_many_parts(json.dumps([1] * (MOST_PARTS + 2)).encode())

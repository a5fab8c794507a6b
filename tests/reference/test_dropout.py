"""The oracles of the dropout exercises against printed values, closed forms and torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.reference import dropout as reference

Array = np.ndarray[Any, np.dtype[np.float64]]

A = np.array(reference.EXAMPLE_ACTIVATIONS)
W = np.array(reference.EXAMPLE_WEIGHTS)
P = st.floats(min_value=0.0, max_value=0.95)
N = st.integers(min_value=1, max_value=6)
SEEDS = st.integers(min_value=0, max_value=2**32 - 1)


def drawn(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize(
    ("a", "mask", "p", "expected"),
    [
        ((2, 4, 6, 8), (1, 0, 1, 1), 0.2, (2.5, 0, 7.5, 10)),
        ((2, 4, 6, 8), (1, 0, 1, 1), 0.5, (4, 0, 12, 16)),
        ((2, 4, 6, 8), (1, 0, 1, 1), 0.25, (8 / 3, 0, 8, 32 / 3)),
        ((2, 4, 6, 8), (1, 1, 0, 1), 0.2, (2.5, 5, 0, 10)),
        ((2, 4, 6, 8), (1, 1, 1, 1), 0.0, (2, 4, 6, 8)),
        ((2, 4, 6, 8), (0, 0, 0, 0), 0.5, (0, 0, 0, 0)),
        ((-1, 3, 0.5), (1, 0, 1), 0.75, (-4, 0, 2)),
    ],
)
def test_dropout_known(
    a: tuple[float, ...], mask: tuple[int, ...], p: float, expected: tuple[float, ...]
) -> None:
    assert np.allclose(reference.dropout(np.array(a, dtype=float), np.array(mask), p), expected)


@given(SEEDS, P)
def test_dropout_as_torch(seed: int, p: float) -> None:
    """Torch draws its own mask; what it kept is the mask that the reference is given."""
    a = np.abs(drawn(seed, 3, 5)) + 0.1
    torch.manual_seed(seed % 1000)
    theirs = torch.nn.functional.dropout(torch.tensor(a), p, training=True).numpy()
    assert np.allclose(reference.dropout(a, (theirs != 0).astype(float), p), theirs, rtol=1e-12)


@given(N, P)
def test_masks_are_all_there_and_their_probabilities_add_up(n: int, p: float) -> None:
    masks = reference.all_masks(n)
    assert len(set(masks)) == len(masks) == 2**n
    assert sum(reference.mask_probability(mask, p) for mask in masks) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("p", [0.5, 0.25, 0.2, 0.0, 0.9])
def test_expectation_known(p: float) -> None:
    assert np.allclose(reference.dropout_expectation(A, p), A)


@given(N, P, SEEDS)
def test_expectation_gives_the_activations_back(n: int, p: float, seed: int) -> None:
    a = drawn(seed, n)
    assert np.allclose(reference.dropout_expectation(a, p), a, rtol=1e-9, atol=1e-12)


def test_the_unweighted_mean_gives_them_back_at_one_half_only() -> None:
    for p, right in ((0.5, True), (0.25, False), (0.8, False)):
        unweighted = np.mean(
            [reference.dropout(A, np.array(mask), p) for mask in reference.all_masks(4)], axis=0
        )
        assert np.allclose(unweighted, A) is right


@pytest.mark.parametrize(
    ("p", "expected"),
    [(0.2, (1, 4, 9, 16)), (0.5, (4, 16, 36, 64)), (0.25, (4 / 3, 16 / 3, 12, 64 / 3)), (0.0, (0, 0, 0, 0))],
)
def test_variance_known(p: float, expected: tuple[float, ...]) -> None:
    assert np.allclose(reference.dropout_variance(A, p), expected)


@given(N, P, SEEDS)
def test_variance_is_the_closed_form(n: int, p: float, seed: int) -> None:
    a = drawn(seed, n)
    assert np.allclose(reference.dropout_variance(a, p), a**2 * p / (1 - p), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("p", "expected"), [(0.5, 3.1875), (0.25, 1.46484375)])
def test_relu_gap_known(p: float, expected: float) -> None:
    assert reference.relu_gap(W, A, reference.EXAMPLE_BIAS, p) == (expected, 0.0)


@settings(deadline=None)
@given(N, P, SEEDS)
def test_relu_gap_by_bits_in_torch(n: int, p: float, seed: int) -> None:
    w, a, b = drawn(seed, n), drawn(seed + 1, n), float(drawn(seed + 2, 1)[0])
    bits = ((torch.arange(2**n)[:, None] >> torch.arange(n)) & 1).double()
    probabilities = (bits * (1 - p) + (1 - bits) * p).prod(dim=1)
    z = (bits / (1 - p)) @ torch.tensor(w * a) + b
    expected = float((probabilities * torch.relu(z)).sum()), max(float(w @ a) + b, 0.0)
    got = reference.relu_gap(w, a, b, p)
    assert got == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert got[0] >= got[1] - 1e-9  # Jensen


@pytest.mark.parametrize("p", [1.0, -0.01, 1.5, float("nan")])
@pytest.mark.parametrize(
    "call",
    [
        lambda p: reference.dropout(A, np.ones(4), p),
        lambda p: reference.dropout_expectation(A, p),
        lambda p: reference.dropout_variance(A, p),
        lambda p: reference.relu_gap(W, A, 1.0, p),
    ],
    ids=["dropout", "expectation", "variance", "relu_gap"],
)
def test_impossible_probabilities(call: Callable[[float], Any], p: float) -> None:
    with pytest.raises(ValueError, match="probability"):
        call(p)

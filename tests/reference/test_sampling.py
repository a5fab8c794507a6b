"""The oracles of temperature, log-probability and sampling against independent computations."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.reference import sampling as reference

Array = np.ndarray[Any, np.dtype[np.float64]]

SCORES = st.lists(st.floats(min_value=-40, max_value=40), min_size=1, max_size=8)
TEMPERATURES = st.floats(min_value=0.05, max_value=20)


@pytest.mark.parametrize(
    ("tau", "values"),
    [
        (1.0, (0.6590, 0.2424, 0.0986)),
        (0.5, (0.8638, 0.1169, 0.0193)),
        (2.0, (0.5017, 0.3043, 0.1940)),
        (0.002, (1.0, 0.0, 0.0)),
    ],
)
def test_temperature_softmax_known(tau: float, values: tuple[float, ...]) -> None:
    assert np.allclose(reference.temperature_softmax(np.array([2, 1, 0.1]), tau), values, atol=5e-5)


@given(SCORES, TEMPERATURES)
def test_temperature_softmax_as_torch(scores: list[float], tau: float) -> None:
    z = np.array(scores)
    expected = torch.softmax(torch.tensor(z) / tau, dim=0).numpy()
    assert np.allclose(reference.temperature_softmax(z, tau), expected, rtol=1e-9, atol=1e-15)


@given(SCORES, TEMPERATURES, st.floats(min_value=1.01, max_value=3))
def test_a_higher_temperature_is_flatter(scores: list[float], tau: float, more: float) -> None:
    z = np.array(scores)
    cold, warm = reference.temperature_softmax(z, tau), reference.temperature_softmax(z, tau * more)
    assert warm.max() <= cold.max() + 1e-12


@pytest.mark.parametrize("tau", [0, 0.0, -1, -0.5])
def test_temperatures_that_are_not_positive(tau: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        reference.temperature_softmax(np.array([2, 1, 0.1]), tau)
    with pytest.raises(ValueError, match="positive"):
        reference.sample_next(np.array([2, 1, 0.1]), tau, 0.5)


def test_sequence_log_probability_does_not_underflow() -> None:
    assert math.prod([0.01] * 400) == 0
    got = reference.sequence_log_probability(np.full(400, 0.01))
    assert math.isclose(got, 400 * math.log(0.01), rel_tol=1e-12)


@given(st.lists(st.integers(min_value=1, max_value=100), min_size=1, max_size=12))
def test_sequence_log_probability_by_an_exact_product(hundredths: list[int]) -> None:
    product = math.prod((Fraction(one, 100) for one in hundredths), start=Fraction(1))
    expected = math.log(product.numerator) - math.log(product.denominator)
    got = reference.sequence_log_probability(np.array(hundredths) / 100)
    assert math.isclose(got, expected, rel_tol=1e-9, abs_tol=1e-12)


def test_sample_next_known() -> None:
    logits = np.array([0.1, 2.0, 1.0])  # 0.0986, 0.6590, 0.2424
    assert [reference.sample_next(logits, 1.0, u) for u in (0.0, 0.09, 0.11, 0.75, 0.76, 0.999)] == [
        *(0, 0, 1, 1, 2, 2)
    ]


@pytest.mark.parametrize(("u", "index"), [(0.0, 0), (0.24, 0), (0.25, 1), (0.5, 2), (0.75, 3), (0.99, 3)])
def test_a_boundary_goes_to_the_next_word(u: float, index: int) -> None:
    assert reference.sample_next(np.array([3.0, 3.0, 3.0, 3.0]), 0.7, u) == index


@given(SCORES, TEMPERATURES, st.floats(min_value=0, max_value=1, exclude_max=True))
def test_sample_next_as_searchsorted(scores: list[float], tau: float, u: float) -> None:
    z = np.array(scores)
    edges = np.cumsum(torch.softmax(torch.tensor(z) / tau, dim=0).numpy())
    if np.min(np.abs(edges - u)) < 1e-9:
        return
    expected = min(int(np.searchsorted(edges, u, side="right")), len(z) - 1)
    assert reference.sample_next(z, tau, u) == expected
    assert np.allclose(reference.boundaries(z, tau), edges)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(min_value=-2, max_value=2), min_size=2, max_size=5), TEMPERATURES)
def test_evenly_spread_numbers_give_the_probabilities(scores: list[float], tau: float) -> None:
    z = np.array(scores)
    count = 2000
    drawn = [reference.sample_next(z, tau, (i + 0.5) / count) for i in range(count)]
    frequencies = np.bincount(drawn, minlength=len(z)) / count
    assert np.allclose(frequencies, reference.temperature_softmax(z, tau), atol=2 / count)

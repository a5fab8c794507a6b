"""The oracles of the momentum and Adam exercises against printed values, torch and closed forms."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.reference import optimisation as reference

Array = np.ndarray[Any, np.dtype[np.float64]]

SEEDS = st.integers(min_value=0, max_value=2**32 - 1)
UNIT = st.floats(min_value=0.0, max_value=0.99)
RATES = st.floats(min_value=1e-4, max_value=0.5)


def drawn(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize(
    ("theta", "v", "g", "lr", "beta", "new_theta", "new_v"),
    [
        ((1, 1), (0, 0), (1, 100), 0.019, 0.9, (0.981, -0.9), (1, 100)),
        ((1, 1), (2, -3), (1, 100), 0.019, 0.9, (0.9468, -0.8487), (2.8, 97.3)),
        ((1, 2), (5, 5), (2, 0), 0.1, 0.0, (0.8, 2), (2, 0)),
    ],
)
def test_momentum_step_known(
    theta: tuple[float, ...],
    v: tuple[float, ...],
    g: tuple[float, ...],
    lr: float,
    beta: float,
    new_theta: tuple[float, ...],
    new_v: tuple[float, ...],
) -> None:
    arrays = [np.array(one, dtype=float) for one in (theta, v, g)]
    got = reference.momentum_step(arrays[0], arrays[1], arrays[2], lr, beta)
    assert np.allclose(got[0], new_theta)
    assert np.allclose(got[1], new_v)


@settings(deadline=None)
@given(SEEDS, RATES, UNIT)
def test_momentum_as_torch(seed: int, lr: float, beta: float) -> None:
    theta, gradients = drawn(seed, 2, 3), drawn(seed + 1, 5, 2, 3)
    parameter = torch.nn.Parameter(torch.tensor(theta))
    optimizer = torch.optim.SGD([parameter], lr=lr, momentum=beta)
    v = np.zeros((2, 3))
    for g in gradients:
        parameter.grad = torch.tensor(g)
        optimizer.step()
        theta, v = reference.momentum_step(theta, v, g, lr, beta)
        assert np.allclose(theta, parameter.detach().numpy(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("lr", "beta", "count"),
    [
        (0.019, 0.0, 361),
        (0.019, 0.9, 132),
        (4 / 121, 81 / 121, 58),
        (0.0331, 0.669, 78),
        (0.033, 0.67, 50),
        (0.01895, 0.0, 362),
        (0.01895, 0.9, 129),
        (0.0191, 0.0, 359),
        (0.0191, 0.9, 110),
        (0.021, 0.0, None),
        (0.0005, 0.0, None),
    ],
)
def test_momentum_iterations_known(lr: float, beta: float, count: int | None) -> None:
    assert reference.momentum_iterations(lr, beta) == count


def test_the_best_pair_is_the_one_of_the_curvatures() -> None:
    low, high = (curvature**0.5 for curvature in reference.CURVATURES)
    assert (2 / (low + high)) ** 2 == pytest.approx(reference.BEST_LR)
    assert ((high - low) / (high + low)) ** 2 == pytest.approx(reference.BEST_BETA)


def exact_count(lr: Fraction, beta: Fraction, most: int) -> int | None:
    """The count in exact arithmetic, with the square of the norm."""
    thetas, velocities = [Fraction(1), Fraction(1)], [Fraction(0), Fraction(0)]
    for count in range(most + 1):
        if sum(theta * theta for theta in thetas) < Fraction(1, 10**6):
            return count
        for i, curvature in enumerate((1, 100)):
            velocities[i] = beta * velocities[i] + curvature * thetas[i]
            thetas[i] -= lr * velocities[i]
    return None


@pytest.mark.parametrize(
    ("lr", "beta"),
    [
        (Fraction(19, 1000), Fraction(0)),
        (Fraction(19, 1000), Fraction(9, 10)),
        (Fraction(4, 121), Fraction(81, 121)),
    ],
)
def test_the_three_counts_in_exact_arithmetic(lr: Fraction, beta: Fraction) -> None:
    assert reference.momentum_iterations(float(lr), float(beta)) == exact_count(lr, beta, 400)


@settings(deadline=None)
@given(RATES, UNIT, st.integers(min_value=0, max_value=40))
def test_norms_are_powers_of_a_matrix(lr: float, beta: float, steps: int) -> None:
    square = 0.0
    for curvature in reference.CURVATURES:
        one = np.array([[1 - lr * curvature, -lr * beta], [curvature, beta]])
        square += float((np.linalg.matrix_power(one, steps) @ [1.0, 0.0])[0]) ** 2
    norm = reference.momentum_norms(lr, beta, steps)[-1]
    assert norm == pytest.approx(square**0.5, rel=1e-6, abs=1e-9)


def test_norms_that_overflow_are_infinite() -> None:
    norms = reference.momentum_norms(0.5, 0.0, 300)
    assert len(norms) == 301
    assert norms[-1] == float("inf")


@settings(deadline=None)
@given(RATES)
def test_plain_descent_is_a_geometric_sequence(lr: float) -> None:
    norms = reference.momentum_norms(lr, 0.0, 20)
    expected = [(((1 - lr) ** (2 * k)) + ((1 - 100 * lr) ** (2 * k))) ** 0.5 for k in range(21)]
    assert norms == pytest.approx(expected, rel=1e-9)


def test_adam_known() -> None:
    zero = np.zeros(2)
    theta, m, r = reference.adam_step(zero, zero, zero, np.array([0.01, -100.0]), 1)
    assert np.allclose(theta, (-0.001, 0.001), rtol=1e-5)
    assert np.allclose(m, (0.001, -10))
    assert np.allclose(r, (1e-7, 10), rtol=1e-9, atol=0)
    one = np.zeros(1)
    theta, m, r = reference.adam_step(one, one, one, np.array([1e-8]), 1)
    assert np.allclose(theta, -0.0005, rtol=1e-9, atol=0)
    assert np.allclose((m, r), ((1e-9,), (1e-19,)), rtol=1e-9, atol=0)


@given(SEEDS, RATES)
def test_first_adam_step_is_the_learning_rate_along_the_sign(seed: int, lr: float) -> None:
    theta, g, zero = drawn(seed, 4), drawn(seed + 1, 4), np.zeros(4)
    got = reference.adam_step(theta, zero, zero, g, 1, lr=lr)[0]
    assert np.allclose(got, theta - lr * g / (np.abs(g) + 1e-8), rtol=1e-9)


def test_without_the_correction_the_first_step_is_larger() -> None:
    zero, g = np.zeros(1), np.array([3.0])
    _, m, r = reference.adam_step(zero, zero, zero, g, 1)
    assert (m / np.sqrt(r)).item() == pytest.approx(3.1623, rel=1e-4)


@settings(deadline=None)
@given(SEEDS, RATES, UNIT, UNIT, st.floats(min_value=1e-10, max_value=0.1))
def test_adam_as_torch(seed: int, lr: float, beta1: float, beta2: float, eps: float) -> None:
    theta, gradients = drawn(seed, 2, 3), drawn(seed + 1, 5, 2, 3)
    parameter = torch.nn.Parameter(torch.tensor(theta))
    optimizer = torch.optim.Adam([parameter], lr=lr, betas=(beta1, beta2), eps=eps)
    m, r = np.zeros((2, 3)), np.zeros((2, 3))
    for t, g in enumerate(gradients, start=1):
        parameter.grad = torch.tensor(g)
        optimizer.step()
        theta, m, r = reference.adam_step(theta, m, r, g, t, lr, beta1, beta2, eps)
        assert np.allclose(theta, parameter.detach().numpy(), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("t", [0, -1])
def test_adam_counts_from_one(t: int) -> None:
    one = np.ones(2)
    with pytest.raises(ValueError, match="from 1"):
        reference.adam_step(one, one, one, one, t)

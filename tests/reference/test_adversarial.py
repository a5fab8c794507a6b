"""The oracles of the attacks against printed values and independent computations."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.reference import adversarial as reference

Array = np.ndarray[Any, np.dtype[np.float64]]
Labels = np.ndarray[Any, np.dtype[np.int64]]

SEEDS = st.integers(min_value=0, max_value=2**32 - 1)
EPS = st.floats(min_value=0.0, max_value=2.0)
LABELS = st.integers(min_value=0, max_value=1)


def drawn(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).normal(size=shape)


def labels(seed: int, n: int) -> Labels:
    return np.random.default_rng(seed).integers(0, 2, size=n)


def corners(d: int, eps: float) -> Array:
    """The corners of the cube of perturbations, (2^d, d)."""
    return eps * np.array(list(itertools.product([-1.0, 1.0], repeat=d)))


def losses(X: Array, w: Array, b: float, y: int) -> Array:
    """The cross-entropy of each row, stable."""
    got: Array = np.logaddexp(0.0, (1 - 2 * y) * (X @ w + b))
    return got


# The worst change


@pytest.mark.parametrize(
    ("w", "eps", "change"),
    [
        ([0.5, -2.0, 1.5], 0.1, 0.4),
        ([0.1] * 784, 0.1, 7.84),
        ([3.0, -4.0], 0.5, 3.5),
        ([1.0, -1.0], 0.0, 0.0),
    ],
)
def test_worst_score_change_known(w: list[float], eps: float, change: float) -> None:
    assert reference.worst_score_change(np.array(w), eps) == pytest.approx(change)


@given(st.integers(1, 8), EPS, SEEDS)
def test_worst_score_change_over_all_corners(d: int, eps: float, seed: int) -> None:
    w = drawn(seed, d)
    assert reference.worst_score_change(w, eps) == pytest.approx((corners(d, eps) @ w).max(), abs=1e-12)


@given(st.integers(1, 8), EPS, SEEDS)
def test_worst_score_change_is_the_dual_norm(d: int, eps: float, seed: int) -> None:
    w = drawn(seed, d)
    norm = torch.linalg.vector_norm(torch.tensor(w), ord=1).item()
    assert reference.worst_score_change(w, eps) == pytest.approx(eps * norm)
    inside = np.random.default_rng(seed).uniform(-eps, eps, size=(50, d))
    assert (inside @ w).max() <= reference.worst_score_change(w, eps) + 1e-12


# FGSM


@pytest.mark.parametrize(
    ("x", "w", "y", "eps", "attacked"),
    [
        ([0.5, 0.2, 0.9], [0.5, -2.0, 1.5], 1, 0.1, [0.4, 0.3, 0.8]),
        ([0.5, 0.2, 0.9], [0.5, -2.0, 1.5], 0, 0.1, [0.6, 0.1, 1.0]),
        ([0.5, 0.2, 0.9], [0.5, 0.0, -1.5], 1, 0.1, [0.4, 0.2, 1.0]),
        ([-0.4, 1.4, 0.4], [2.0, 1.0, 3.0], 0, 0.1, [-0.3, 1.5, 0.5]),
        ([-0.4, -0.3], [1.0, -1.0], 1, 0.05, [-0.45, -0.25]),
    ],
)
def test_fgsm_known(x: list[float], w: list[float], y: int, eps: float, attacked: list[float]) -> None:
    assert np.allclose(reference.fgsm(np.array(x), np.array(w), 0.1, y, eps), attacked)


@given(st.integers(1, 8), LABELS, EPS, SEEDS)
def test_fgsm_as_torch(d: int, y: int, eps: float, seed: int) -> None:
    x, w, b = drawn(seed, d), drawn(seed + 1, d), float(drawn(seed + 2))
    leaf = torch.tensor(x, requires_grad=True)
    target = torch.tensor(float(y), dtype=torch.float64)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(torch.tensor(w) @ leaf + b, target)
    (slope,) = torch.autograd.grad(loss, leaf)
    expected = x + eps * slope.sign().numpy()
    assert np.allclose(reference.fgsm(x, w, b, y, eps), expected, rtol=0, atol=1e-12)


@given(st.integers(1, 7), LABELS, st.floats(0.01, 2.0), st.floats(-50.0, 50.0), SEEDS)
def test_fgsm_reaches_the_greatest_loss(d: int, y: int, eps: float, score: float, seed: int) -> None:
    """Over all corners, by the score that stands for the loss: for large scores the loss itself saturates."""
    x, w = drawn(seed, d), drawn(seed + 1, d)
    b = score - float(x @ w)
    attacked = reference.fgsm(x, w, b, y, eps)
    assert np.allclose(np.abs(attacked - x), eps)
    worst = ((1 - 2 * y) * ((x + corners(d, eps)) @ w + b)).max()
    assert (1 - 2 * y) * (attacked @ w + b) == pytest.approx(worst, abs=1e-9)
    assert losses(attacked[None], w, b, y)[0] == pytest.approx(losses(x + corners(d, eps), w, b, y).max())


@given(LABELS, st.sampled_from([-45.0, -25.0, 25.0, 45.0]), SEEDS)
def test_fgsm_where_a_plain_sigmoid_saturates(y: int, score: float, seed: int) -> None:
    """torch's log-sigmoid keeps the gradient that p - y loses from a score of 37 on."""
    x, w = drawn(seed, 4), drawn(seed + 1, 4)
    b = score - float(x @ w)
    leaf = torch.tensor(x, requires_grad=True)
    z = torch.tensor(w) @ leaf + b
    (slope,) = torch.autograd.grad(-torch.nn.functional.logsigmoid(z if y == 1 else -z), leaf)
    assert np.allclose(reference.fgsm(x, w, b, y, 0.5), x + 0.5 * slope.sign().numpy())


def test_a_plain_sigmoid_does_saturate() -> None:
    assert 1 / (1 + math.exp(-45.0)) - 1 == 0.0
    assert np.float32(1) / (np.float32(1) + np.exp(np.float32(-25.0))) - np.float32(1) == 0.0


@pytest.mark.parametrize(("y", "eps"), [(1, -0.1), (0, -1e-9), (2, 0.1), (-1, 0.1)])
def test_fgsm_impossible(y: int, eps: float) -> None:
    with pytest.raises(ValueError):
        reference.fgsm(np.ones(2), np.ones(2), 0.0, y, eps)


# Accuracy under attack


@settings(deadline=None)
@given(st.integers(1, 5), st.integers(1, 12), EPS, SEEDS)
def test_attacked_accuracy_by_margins(d: int, n: int, eps: float, seed: int) -> None:
    w, b, X, y = drawn(seed, d), float(drawn(seed + 1)), drawn(seed + 2, n, d), labels(seed, n)
    margins = np.where(y == 1, 1, -1) * (X @ w + b)
    expected = np.mean(margins > eps * np.abs(w).sum())
    assert reference.attacked_accuracy(w, b, X, y, eps) == pytest.approx(expected)


@settings(deadline=None)
@given(st.integers(1, 4), st.integers(1, 8), EPS, SEEDS)
def test_attacked_accuracy_over_all_corners(d: int, n: int, eps: float, seed: int) -> None:
    """An example survives when no corner of its cube is on the wrong side."""
    w, b, X, y = drawn(seed, d), float(drawn(seed + 1)), drawn(seed + 2, n, d), labels(seed, n)
    survivors = 0
    for x, label in zip(X, y, strict=True):
        scores = (x + corners(d, eps)) @ w + b
        survivors += bool((scores > 0).all() if label == 1 else (scores <= 0).all())
    assert reference.attacked_accuracy(w, b, X, y, eps) == pytest.approx(survivors / n)


@settings(deadline=None)
@given(st.lists(EPS, min_size=2, max_size=5), SEEDS)
def test_attacked_accuracy_never_rises(sizes: list[float], seed: int) -> None:
    w, b, X, y = drawn(seed, 3), float(drawn(seed + 1)), drawn(seed + 2, 20, 3), labels(seed, 20)
    curve = [reference.attacked_accuracy(w, b, X, y, eps) for eps in sorted(sizes)]
    assert curve == sorted(curve, reverse=True)


# Growth


@given(st.lists(st.integers(1, 8), min_size=1, max_size=4), st.floats(0.01, 3.0), EPS, SEEDS)
def test_score_growth_by_enumeration(dimensions: list[int], weight: float, eps: float, seed: int) -> None:
    worst, typical = reference.score_growth(dimensions, weight, eps)
    signs = np.random.default_rng(seed)
    for n, most, usual in zip(dimensions, worst, typical, strict=True):
        changes = corners(n, eps) @ (weight * signs.choice([-1.0, 1.0], size=n))
        assert most == pytest.approx(changes.max(), abs=1e-12)
        assert usual == pytest.approx(math.sqrt((changes**2).mean()), abs=1e-12)


@given(st.integers(1, 2000), st.floats(0.01, 3.0), st.floats(0.0, 2.0))
def test_score_growth_closed_form(n: int, weight: float, eps: float) -> None:
    (worst,), (typical,) = reference.score_growth([n], weight, eps)
    assert worst == pytest.approx(eps * weight * n)
    assert typical == pytest.approx(eps * weight * math.sqrt(n))


def test_score_growth_known() -> None:
    worst, typical = reference.score_growth([1, 4, 784], 0.1, 0.1)
    assert worst == pytest.approx([0.01, 0.04, 7.84])
    assert typical == pytest.approx([0.01, 0.02, 0.28])


# Training


@settings(deadline=None)
@given(st.integers(1, 5), st.integers(1, 9), EPS, st.floats(0.0, 2.0), SEEDS)
def test_adversarial_training_step_as_torch(d: int, n: int, eps: float, lr: float, seed: int) -> None:
    w, b, X, y = drawn(seed, d), float(drawn(seed + 1)), drawn(seed + 2, n, d), labels(seed, n)
    loss = torch.nn.functional.binary_cross_entropy_with_logits
    weights = torch.tensor(w, requires_grad=True)
    bias = torch.tensor(b, dtype=torch.float64, requires_grad=True)
    inputs, target = torch.tensor(X, requires_grad=True), torch.tensor(y, dtype=torch.float64)
    (slope,) = torch.autograd.grad(loss(inputs @ weights + bias, target, reduction="sum"), inputs)
    attacked = (inputs + eps * slope.sign()).detach()
    clean = inputs.detach()
    half = (loss(clean @ weights + bias, target) + loss(attacked @ weights + bias, target)) / 2
    weights.grad, bias.grad = torch.autograd.grad(half, (weights, bias))
    torch.optim.SGD([weights, bias], lr=lr).step()
    got_w, got_b = reference.adversarial_training_step(w, b, X, y, eps, lr)
    assert np.allclose(got_w, weights.detach().numpy(), atol=1e-12)
    assert got_b == pytest.approx(bias.item(), abs=1e-12)


@settings(deadline=None)
@given(st.floats(0.0, 1.0), SEEDS)
def test_adversarial_training_step_by_finite_differences(eps: float, seed: int) -> None:
    d, n, h = 3, 5, 1e-5
    w, b, X, y = drawn(seed, d), float(drawn(seed + 1)), drawn(seed + 2, n, d), labels(seed, n)
    attacked = np.stack([reference.fgsm(x, w, b, int(label), eps) for x, label in zip(X, y, strict=True)])

    def objective(weights: Array, bias: float) -> float:
        z = np.concatenate([X, attacked]) @ weights + bias
        return float(np.mean(np.logaddexp(0, z) - np.concatenate([y, y]) * z))

    got_w, got_b = reference.adversarial_training_step(w, b, X, y, eps, 1.0)
    for j in range(d):
        move = h * np.eye(d)[j]
        slope = (objective(w + move, b) - objective(w - move, b)) / (2 * h)
        assert w[j] - got_w[j] == pytest.approx(slope, abs=1e-6)
    assert b - got_b == pytest.approx((objective(w, b + h) - objective(w, b - h)) / (2 * h), abs=1e-6)


def test_adversarial_training_step_keeps_its_digits_at_large_scores() -> None:
    X, y = np.array([[1.0], [-1.0]]), np.array([0, 1])
    got_w, got_b = reference.adversarial_training_step(np.array([800.0]), 0.0, X, y, 0.5, 1.0)
    assert got_w[0] == pytest.approx(800.0 - 1.25)
    assert got_b == pytest.approx(0.0)


@pytest.mark.parametrize(("label", "eps"), [(1, -0.1), (2, 0.1), (-1, 0.1)])
def test_impossible(label: int, eps: float) -> None:
    w, X, y = np.ones(2), np.ones((3, 2)), np.array([0, label, 1])
    with pytest.raises(ValueError):
        reference.attacked_accuracy(w, 0.0, X, y, eps)
    with pytest.raises(ValueError):
        reference.adversarial_training_step(w, 0.0, X, y, eps, 0.1)


def test_negative_eps() -> None:
    with pytest.raises(ValueError, match="eps"):
        reference.worst_score_change(np.ones(2), -0.1)
    with pytest.raises(ValueError, match="eps"):
        reference.score_growth([1, 2], 0.1, -0.1)


def test_arguments_are_left_alone() -> None:
    w, X, y = drawn(0, 3), drawn(1, 4, 3), labels(2, 4)
    before = w.copy(), X.copy(), y.copy()
    reference.fgsm(X[0], w, 0.1, 1, 0.2)
    reference.attacked_accuracy(w, 0.1, X, y, 0.2)
    reference.adversarial_training_step(w, 0.1, X, y, 0.2, 0.5)
    assert all(np.array_equal(one, old) for one, old in zip((w, X, y), before, strict=True))

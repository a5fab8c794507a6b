"""The oracles of the normalisation exercises against printed values and torch's own layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.reference import normalisation as reference

Array = np.ndarray[Any, np.dtype[np.float64]]

SIZES = st.integers(min_value=2, max_value=6)
SEEDS = st.integers(min_value=0, max_value=2**32 - 1)
EPS = st.floats(min_value=1e-6, max_value=1.0)


def drawn(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).normal(0.3, 1.5, size=shape)


@settings(deadline=None)
@given(SIZES, SIZES, SEEDS, st.floats(min_value=0.0, max_value=1.0), EPS)
def test_batch_norm_as_torch(batch: int, features: int, seed: int, momentum: float, eps: float) -> None:
    layer = torch.nn.BatchNorm1d(features, eps=eps, momentum=momentum).double()
    gamma, beta, mean = drawn(seed, features), drawn(seed + 1, features), drawn(seed + 2, features)
    var = drawn(seed + 3, features) ** 2 + 0.1
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(gamma))
        layer.bias.copy_(torch.tensor(beta))
    assert layer.running_mean is not None
    assert layer.running_var is not None
    layer.running_mean.copy_(torch.tensor(mean))
    layer.running_var.copy_(torch.tensor(var))
    for step, training in enumerate((True, True, False)):
        x = drawn(seed + 4 + step, batch, features)
        layer.train(training)
        expected = layer(torch.tensor(x)).detach().numpy()
        y, mean, var = reference.batch_norm(x, gamma, beta, mean, var, training, momentum, eps)
        assert np.allclose(y, expected, rtol=1e-9, atol=1e-9)
        assert np.allclose(mean, layer.running_mean.numpy(), rtol=1e-12, atol=1e-12)
        assert np.allclose(var, layer.running_var.numpy(), rtol=1e-12, atol=1e-12)


def test_batch_norm_defaults_are_those_of_torch() -> None:
    layer = torch.nn.BatchNorm1d(2).double()
    x = drawn(0, 4, 2) / 1000
    y, mean, var = reference.batch_norm(x, np.ones(2), np.zeros(2), np.zeros(2), np.ones(2), True)
    assert layer.running_mean is not None
    assert layer.running_var is not None
    assert np.allclose(y, layer(torch.tensor(x)).detach().numpy(), rtol=1e-9)
    assert np.allclose(mean, layer.running_mean.numpy(), rtol=1e-12)
    assert np.allclose(var, layer.running_var.numpy(), rtol=1e-12)


def test_batch_norm_leaves_its_arguments_alone() -> None:
    mean, var = np.zeros(3), np.ones(3)
    reference.batch_norm(drawn(0, 4, 3), np.ones(3), np.zeros(3), mean, var, True)
    assert (mean == 0).all()
    assert (var == 1).all()


def test_layer_norm_known() -> None:
    x = np.array([[4.0, 3.0, 1.0, 0.0], [1.0, 2.0, 3.0, 10.0]])
    got = reference.layer_norm(x, np.ones(4), np.zeros(4))
    assert np.allclose(got[0], (1.2649, 0.6325, -0.6325, -1.2649), atol=1e-4)
    tiny = reference.layer_norm(np.array([[0.0, 1e-3, -1e-3, 0.0]]), np.ones(4), np.zeros(4))
    assert np.allclose(tiny, (0, 0.3086, -0.3086, 0), atol=1e-4)


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 5), (2, 1, 3, 4)])
@settings(deadline=None)
@given(seed=SEEDS, eps=EPS)
def test_layer_norm_as_torch(shape: tuple[int, ...], seed: int, eps: float) -> None:
    x, gamma, beta = drawn(seed, *shape), drawn(seed + 1, shape[-1]), drawn(seed + 2, shape[-1])
    expected = torch.nn.functional.layer_norm(
        torch.tensor(x), shape[-1:], torch.tensor(gamma), torch.tensor(beta), eps
    )
    assert np.allclose(reference.layer_norm(x, gamma, beta, eps), expected.numpy(), rtol=1e-9, atol=1e-9)


def test_layer_norm_default_is_that_of_torch() -> None:
    x = drawn(3, 2, 4) / 1000
    expected = torch.nn.LayerNorm(4).double()(torch.tensor(x)).detach().numpy()
    assert np.allclose(reference.layer_norm(x, np.ones(4), np.zeros(4)), expected, rtol=1e-9)


def test_rms_norm_known() -> None:
    x = np.array([[4.0, 3.0, 1.0, 0.0], [0.0, 1.0, 2.0, 3.0]])
    assert np.allclose(reference.rms_norm(x, np.ones(4))[0], (1.5689, 1.1767, 0.3922, 0), atol=1e-4)
    gamma = np.array([1.0, 2.0, 0.5, 3.0])
    assert np.allclose(reference.rms_norm(x, gamma)[0], (1.5689, 2.3534, 0.1961, 0), atol=1e-4)


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 5), (2, 1, 3, 4)])
@settings(deadline=None)
@given(seed=SEEDS, eps=EPS)
def test_rms_norm_as_torch(shape: tuple[int, ...], seed: int, eps: float) -> None:
    x, gamma = drawn(seed, *shape), drawn(seed + 1, shape[-1])
    expected = torch.nn.functional.rms_norm(torch.tensor(x), shape[-1:], torch.tensor(gamma), eps)
    assert np.allclose(reference.rms_norm(x, gamma, eps), expected.numpy(), rtol=1e-9, atol=1e-9)


@given(SEEDS)
def test_on_centred_rows_both_norms_agree(seed: int) -> None:
    x, gamma = drawn(seed, 3, 5), drawn(seed + 1, 5)
    centred = x - x.mean(axis=-1, keepdims=True)
    got = reference.rms_norm(centred, gamma, 1e-5)
    assert np.allclose(got, reference.layer_norm(x, gamma, np.zeros(5), 1e-5), rtol=1e-9, atol=1e-12)

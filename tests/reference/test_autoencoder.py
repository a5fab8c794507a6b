"""The oracle of the best linear autoencoder against singular values, principal components and search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from autograder.reference import autoencoder as reference

Array = np.ndarray[Any, np.dtype[np.float64]]

SEEDS = st.integers(min_value=0, max_value=2**32 - 1)


def drawn(seed: int, *shape: int) -> Array:
    """Columns of different sizes, far from centred."""
    rng = np.random.default_rng(seed)
    mean = rng.uniform(1, 3, size=shape[1])
    data: Array = rng.normal(size=shape) * 0.7 ** np.arange(shape[1]) + mean
    return data


def error(X: Array, reconstruction: Array) -> float:
    return float(((X - reconstruction) ** 2).sum())


@given(st.integers(2, 9), st.integers(1, 6), st.integers(1, 6), SEEDS)
def test_error_is_that_of_the_discarded_singular_values(n: int, d: int, k: int, seed: int) -> None:
    X = drawn(seed, n, d)
    if k > d:
        with pytest.raises(ValueError, match="number of columns"):
            reference.linear_autoencoder(X, k)
        return
    codes, reconstruction = reference.linear_autoencoder(X, k)
    assert codes.shape == (n, k)
    assert reconstruction.shape == (n, d)
    singular = torch.linalg.svdvals(torch.tensor(X - X.mean(axis=0))).numpy()
    assert error(X, reconstruction) == pytest.approx((singular[k:] ** 2).sum(), abs=1e-9)


@settings(deadline=None)
@given(st.integers(6, 10), st.integers(2, 5), st.integers(1, 4), SEEDS)
def test_as_the_principal_components_of_scikit_learn(n: int, d: int, k: int, seed: int) -> None:
    X, k = drawn(seed, n, d), min(k, d)
    found = PCA(k, svd_solver="full").fit(X)
    codes, reconstruction = reference.linear_autoencoder(X, k)
    right = found.transform(X)
    assert np.allclose(reconstruction, found.inverse_transform(right), atol=1e-6)
    assert np.allclose(reference.code_projection(codes), reference.code_projection(right), atol=1e-5)


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 2), SEEDS)
def test_no_other_linear_autoencoder_does_better(k: int, seed: int) -> None:
    """Alternating least squares from random starts, and random encoders with their best decoders."""
    X = drawn(seed, 8, 4)
    Z = X - X.mean(axis=0)
    best = error(X, reference.linear_autoencoder(X, k)[1])
    rng = np.random.default_rng(seed)
    for _ in range(20):
        codes = Z @ rng.normal(size=(4, k))
        decoder = np.linalg.lstsq(codes, Z, rcond=None)[0]
        assert error(Z, codes @ decoder) >= best - 1e-9
    for _ in range(1500):
        codes = Z @ np.linalg.pinv(decoder)
        decoder = np.linalg.lstsq(codes, Z, rcond=None)[0]
    assert error(Z, codes @ decoder) == pytest.approx(best, rel=0.05, abs=1e-9)


@given(st.integers(1, 3), SEEDS)
def test_projection_does_not_depend_on_the_basis(k: int, seed: int) -> None:
    codes = reference.linear_autoencoder(drawn(seed, 7, 4), k)[0]
    skew = np.eye(k) + np.tril(np.ones((k, k)))
    projection = reference.code_projection(codes)
    assert np.allclose(projection, reference.code_projection(codes @ skew), atol=1e-8)
    assert np.allclose(projection @ projection, projection)
    assert np.trace(projection) == pytest.approx(k)


def test_known() -> None:
    X = np.array([[1.0, 5.0], [3.0, 5.0], [2.0, 5.5], [2.0, 4.5]])
    codes, reconstruction = reference.linear_autoencoder(X, 1)
    assert np.allclose(np.abs(codes[:, 0]), [1, 1, 0, 0])
    assert np.allclose(reconstruction, [[1, 5], [3, 5], [2, 5], [2, 5]])


@pytest.mark.parametrize("k", [0, -1, 4])
def test_impossible(k: int) -> None:
    with pytest.raises(ValueError, match="number of columns"):
        reference.linear_autoencoder(drawn(0, 5, 3), k)

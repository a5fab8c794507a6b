"""Oracles for batch, layer and RMS normalisation, by loops over examples and features.

Knows nothing of torch, but follows its conventions (torch.nn.BatchNorm1d, LayerNorm, RMSNorm).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def _variance(values: list[float]) -> float:
    """Biased: the sum of squares is divided by the number of values."""
    mean = _mean(values)
    return math.fsum((value - mean) ** 2 for value in values) / len(values)


def batch_norm(
    x: Array,
    gamma: Array,
    beta: Array,
    running_mean: Array,
    running_var: Array,
    training: bool,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> tuple[Array, Array, Array]:
    """Batch normalisation of x (batch, features); returns (y, running_mean, running_var).

    The other arrays are (features,). In training a feature is normalised by its mean and biased
    variance over the batch, and running <- (1 - momentum) running + momentum batch, with the unbiased
    variance there. Otherwise the running statistics normalise, and come back as they were.
    Ioffe and Szegedy 2015, with torch's convention for momentum. A batch of one has no unbiased variance.
    """
    count, features = x.shape
    y = np.zeros(x.shape)
    new_mean, new_var = running_mean.copy(), running_var.copy()
    for j in range(features):
        column = [float(value) for value in x[:, j]]
        mean, variance = float(running_mean[j]), float(running_var[j])
        if training:
            mean, variance = _mean(column), _variance(column)
            new_mean[j] = (1 - momentum) * running_mean[j] + momentum * mean
            new_var[j] = (1 - momentum) * running_var[j] + momentum * variance * count / (count - 1)
        for i in range(count):
            y[i, j] = gamma[j] * (x[i, j] - mean) / math.sqrt(variance + eps) + beta[j]
    return y, new_mean, new_var


def layer_norm(x: Array, gamma: Array, beta: Array, eps: float = 1e-5) -> Array:
    """Layer normalisation over the last axis of x (..., d); gamma and beta are (d,).

    Each row has its own mean and biased variance (Ba, Kiros and Hinton 2016, equations 3 and 4).
    """
    y = np.zeros(x.shape)
    for place in np.ndindex(*x.shape[:-1]):
        row = [float(value) for value in x[place]]
        mean, variance = _mean(row), _variance(row)
        for j, value in enumerate(row):
            y[(*place, j)] = gamma[j] * (value - mean) / math.sqrt(variance + eps) + beta[j]
    return y


def rms_norm(x: Array, gamma: Array, eps: float = 1e-6) -> Array:
    """Root mean square normalisation over the last axis of x (..., d); gamma is (d,).

    No mean is subtracted (Zhang and Sennrich 2019, equation 4); eps stands under the root, as in torch.
    """
    y = np.zeros(x.shape)
    for place in np.ndindex(*x.shape[:-1]):
        row = [float(value) for value in x[place]]
        scale = math.sqrt(_mean([value**2 for value in row]) + eps)
        for j, value in enumerate(row):
            y[(*place, j)] = gamma[j] * value / scale
    return y

"""Oracles for dropout: exact expectations, by going through all the masks.

Knows nothing of torch. The convention is the inverted one: what is kept is divided by 1 - p during
training, and the test network uses the activations as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]

#: The worked example: w . a + b is -3, so the test network's unit is off.
EXAMPLE_WEIGHTS = (1.0, -1.0, 1.0, -1.0)
EXAMPLE_ACTIVATIONS = (2.0, 4.0, 6.0, 8.0)
EXAMPLE_BIAS = 1.0


def check_probability(p: float) -> None:
    """Raise ValueError unless 0 <= p < 1: at p = 1 nothing is left to be rescaled."""
    if not 0.0 <= p < 1.0:
        raise ValueError("the probability of dropping lies in [0, 1)")


def all_masks(n: int) -> list[tuple[int, ...]]:
    """The 2^n masks of n units, 1 for a unit that is kept."""
    if n == 0:
        return [()]
    return [(*mask, kept) for mask in all_masks(n - 1) for kept in (0, 1)]


def mask_probability(mask: tuple[int, ...], p: float) -> float:
    """Probability of a mask when every unit is dropped with probability p, independently."""
    probability = 1.0
    for kept in mask:
        probability *= 1.0 - p if kept else p
    return probability


def dropout(a: Array, mask: Array, p: float) -> Array:
    """Inverted dropout: a where mask is 1, divided by 1 - p, and 0 elsewhere; any shape.

    Srivastava et al. 2014, section 10, in the form that scales during training.
    Raises ValueError unless 0 <= p < 1.
    """
    check_probability(p)
    out = np.zeros(a.shape)
    for index in np.ndindex(*a.shape):
        if mask[index] == 1:
            out[index] = a[index] / (1.0 - p)
    return out


def dropout_expectation(a: Array, p: float) -> Array:
    """E[dropout(a, mask, p)], (n,), over the 2^n masks of a (n,). Raises ValueError unless 0 <= p < 1."""
    check_probability(p)
    mean = np.zeros(a.shape)
    for mask in all_masks(len(a)):
        mean += mask_probability(mask, p) * dropout(a, np.array(mask), p)
    return mean


def dropout_variance(a: Array, p: float) -> Array:
    """Var[dropout(a, mask, p)], (n,), unit by unit over the 2^n masks; equals a^2 p / (1 - p).

    Raises ValueError unless 0 <= p < 1.
    """
    mean = dropout_expectation(a, p)
    variance = np.zeros(a.shape)
    for mask in all_masks(len(a)):
        variance += mask_probability(mask, p) * (dropout(a, np.array(mask), p) - mean) ** 2
    return variance


def relu_gap(w: Array, a: Array, b: float, p: float) -> tuple[float, float]:
    """(E[relu(z)], relu(E[z])) for z = w . dropout(a, mask, p) + b, with w and a (n,).

    The second is what the test network computes, since E[z] = w . a + b; it never exceeds the
    first (Jensen). Raises ValueError unless 0 <= p < 1.
    """
    check_probability(p)
    mean_of_relu, mean = 0.0, 0.0
    for mask in all_masks(len(a)):
        z = float(b)
        for weight, value in zip(w, dropout(a, np.array(mask), p), strict=True):
            z += float(weight) * float(value)
        mean_of_relu += mask_probability(mask, p) * max(z, 0.0)
        mean += mask_probability(mask, p) * z
    return mean_of_relu, max(mean, 0.0)

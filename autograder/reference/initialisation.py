"""Oracles for how weights start, and for what sigmoids do to a gradient. Knows nothing of torch."""

from __future__ import annotations

import math
from collections.abc import Iterable


def init_variance(scheme: str, k: int, c_in: int, c_out: int) -> float:
    """Variance of a weight of a k x k convolution at the start; k = 1 is a dense layer.

    n_in = k^2 c_in values enter one output, n_out = k^2 c_out outputs read one value.
    'xavier': 2 / (n_in + n_out) (Glorot and Bengio 2010, equation 12); 'he': 2 / n_in (He et al. 2015,
    equation 10); 'torch': uniform within 1 / sqrt(n_in), the default of torch.nn.Conv2d and Linear,
    so 1 / (3 n_in). Raises ValueError for another scheme.
    """
    n_in = k * k * c_in
    n_out = k * k * c_out
    if scheme == "xavier":
        return 2.0 / (n_in + n_out)
    if scheme == "he":
        return 2.0 / n_in
    if scheme == "torch":
        bound = 1.0 / math.sqrt(n_in)
        return bound**2 / 3.0
    raise ValueError(f"there is no scheme '{scheme}'")


def sigmoid(z: float) -> float:
    """1 / (1 + exp(-z))."""
    return 1.0 / (1.0 + math.exp(-z))


def sigmoid_path_gradient(z: Iterable[float]) -> float:
    """Product of the sigmoid's derivatives s (1 - s) at the pre-activations z along a path."""
    product = 1.0
    for value in z:
        s = sigmoid(float(value))
        product *= s * (1.0 - s)
    return product

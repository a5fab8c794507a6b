"""Oracles for attention: weights, masks, positions, counts and a diagnosis, by obvious loops.

Knows nothing of torch. Words are rows: queries (n_q, d_k), keys (n_k, d_k), values (n_k, d_v), float64.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]

#: The hand computation: for each of the three keys, the number whose logarithm is its first entry.
HAND_KEYS = (6, 3, 1)
#: The first entry of its query, and the width of queries and keys: 2 * log(k) / sqrt(4) = log(k).
HAND_QUERY, HAND_WIDTH = 2, 4
HAND_VALUES = ((10, 0), (0, 10), (10, 10))

#: `healthy`: first over last gradient norm, last over first activation, and the smallest gradient norm.
GRADIENT_RATIO = (1e-2, 1e2)
ACTIVATION_RATIO = (1e-1, 1e1)
SMALLEST_GRADIENT = 1e-6


def softmax_row(scores: Sequence[float]) -> list[float]:
    """exp(z_i) / sum of exp(z_j), with the largest score subtracted from all.

    An entry at minus infinity gets the weight 0; at least one entry is finite.
    """
    largest = max(scores)
    exponentials = [math.exp(score - largest) for score in scores]
    total = math.fsum(exponentials)
    return [one / total for one in exponentials]


def softmax(z: Array, axis: int = -1) -> Array:
    """Softmax of a vector (n,) or a matrix (n, m) along `axis`: the same shape, sums of 1 along it."""
    if z.ndim == 1:
        return np.array(softmax_row([float(one) for one in z]))
    if axis in (0, -2):
        return softmax(z.T, axis=1).T
    return np.array([softmax_row([float(one) for one in row]) for row in z])


def attention(q: Array, k: Array, v: Array) -> Array:
    """softmax(Q K^T / sqrt(d_k)) V, of shape (n_q, d_v): one softmax for each query.

    q: (n_q, d_k), k: (n_k, d_k), v: (n_k, d_v) (Vaswani et al. 2017, equation 1).
    """
    n_q, d_k = q.shape
    n_k, d_v = v.shape
    out = np.zeros((n_q, d_v))
    for t in range(n_q):
        scores = []
        for s in range(n_k):
            dot = math.fsum(float(q[t, c]) * float(k[s, c]) for c in range(d_k))
            scores.append(dot / math.sqrt(d_k))
        weights = softmax_row(scores)
        for c in range(d_v):
            out[t, c] = math.fsum(weights[s] * float(v[s, c]) for s in range(n_k))
    return out


def weights_by_hand() -> list[Fraction]:
    """The three weights of the hand computation, exactly.

    The score of key k is 2 log(k) / sqrt(4) = log(k), so its exponential is k itself.
    """
    return [Fraction(key, sum(HAND_KEYS)) for key in HAND_KEYS]


def output_by_hand() -> list[Fraction]:
    """The output of the hand computation, exactly: the weighted mean of the three values."""
    weights = weights_by_hand()
    return [
        sum((weight * value[c] for weight, value in zip(weights, HAND_VALUES, strict=True)), Fraction(0))
        for c in range(2)
    ]


def causal_weights(scores: Array) -> Array:
    """Attention weights (n, n) from scores (n, n) when word t may look at words 0 to t only.

    Scores of later words are at minus infinity before the softmax, so their weights are exactly 0.
    """
    n = len(scores)
    masked = [[float(scores[t, s]) if s <= t else -math.inf for s in range(n)] for t in range(n)]
    return np.array([softmax_row(row) for row in masked])


def self_attention(x: Array, w_q: Array, w_k: Array, w_v: Array) -> Array:
    """attention(X W_q, X W_k, X W_v), of shape (n, d_v): x (n, d), w_q and w_k (d, d_k), w_v (d, d_v)."""
    return attention(_product(x, w_q), _product(x, w_k), _product(x, w_v))


def permuted_output(y: Array, perm: Sequence[int]) -> Array:
    """f(P X) from Y = f(X), (n, d), for an equivariant f, where row i of P X is X[perm[i]].

    f(P X) = P f(X): its row i is Y[perm[i]].
    """
    out = np.zeros(y.shape)
    for i, source in enumerate(perm):
        for c in range(y.shape[1]):
            out[i, c] = y[source, c]
    return out


def positional_encoding(t: int, d: int) -> Array:
    """Sines and cosines of position t >= 0, interleaved: shape (d,).

    Entry 2 i is sin(t / 10000^(2 i / d)), entry 2 i + 1 the cosine of the same angle
    (Vaswani et al. 2017, section 3.5). Raises ValueError if d is odd or below 1.
    """
    if d < 1 or d % 2:
        raise ValueError("d is even and positive")
    out = np.zeros(d)
    for i in range(d // 2):
        angle = t / 10_000 ** (2 * i / d)
        out[2 * i] = math.sin(angle)
        out[2 * i + 1] = math.cos(angle)
    return out


def encoder_parameters(d: int, h: int, d_ff: int, n_blocks: int) -> int:
    """Parameters of a Transformer encoder of `n_blocks` blocks, without embedding or final norm.

    A block has four d x d maps (queries, keys, values, output; `h` heads of width d / h share
    them), two maps d -> d_ff -> d, a bias for every map, and two LayerNorm with d scales and d
    shifts each (Vaswani et al. 2017, section 3, with biases in every map).
    Raises ValueError if h does not divide d.
    """
    if d % h:
        raise ValueError("the number of heads divides d")
    total = 0
    for _ in range(n_blocks):
        for _ in ("queries", "keys", "values"):
            for _ in range(h):
                total += d * (d // h) + d // h
        total += d * d + d
        total += d * d_ff + d_ff
        total += d_ff * d + d
        for _ in ("norm before attention", "norm before the dense layers"):
            total += d + d
    return total


def healthy(gradient_norms: Sequence[float], activations: Sequence[float]) -> bool:
    """Whether a stack trains: gradients level and alive, activations level. First block first.

    True when gradient_norms[0] / gradient_norms[-1] is within [1e-2, 1e2], every gradient norm is
    at least 1e-6, and activations[-1] / activations[0] is within [1e-1, 1e1].
    """
    level = GRADIENT_RATIO[0] <= gradient_norms[0] / gradient_norms[-1] <= GRADIENT_RATIO[1]
    alive = all(norm >= SMALLEST_GRADIENT for norm in gradient_norms)
    bounded = ACTIVATION_RATIO[0] <= activations[-1] / activations[0] <= ACTIVATION_RATIO[1]
    return bool(level and alive and bounded)


def _product(a: Array, b: Array) -> Array:
    rows, inner = a.shape
    columns = b.shape[1]
    out = np.zeros((rows, columns))
    for i in range(rows):
        for j in range(columns):
            out[i, j] = math.fsum(float(a[i, c]) * float(b[c, j]) for c in range(inner))
    return out

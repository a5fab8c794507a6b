"""Oracle for the best linear autoencoder, from the eigenvectors of the covariance.

Knows nothing of torch. Data are float64, one example a row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


def linear_autoencoder(X: Array, k: int) -> tuple[Array, Array]:
    """Codes (n, k) and reconstruction (n, d) of X (n, d) by the best linear autoencoder with k units.

    Both halves act on centred data and the mean is added back. The least squared error is reached on
    the span of the k leading eigenvectors of the covariance, and equals the sum of the discarded
    squared singular values of the centred data (Baldi and Hornik 1989; Eckart and Young 1936).
    The codes are one choice among many: any invertible k x k matrix gives others that serve as well.
    Raises ValueError if k < 1 or k > d.
    """
    d = X.shape[1]
    if k < 1 or k > d:
        raise ValueError("k is from 1 to the number of columns")
    mean = X.mean(axis=0)
    centred = X - mean
    covariance = np.zeros((d, d))
    for row in centred:
        covariance += np.outer(row, row)
    _, vectors = np.linalg.eigh(covariance)  # eigenvalues in ascending order
    leading = vectors[:, d - k :]
    codes: Array = centred @ leading
    return codes, codes @ leading.T + mean


def code_projection(codes: Array) -> Array:
    """The orthogonal projection (n, n) on the columns of codes (n, k): the same for every right code."""
    projection: Array = codes @ np.linalg.pinv(codes)
    return projection

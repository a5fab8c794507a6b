"""Oracles for gradient descent with momentum, and Adam: one step, and a count of steps.

Knows nothing of torch. The convention of momentum is that of Polyak and of torch.optim.SGD:
the whole gradient enters the velocity, and the learning rate multiplies the velocity.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]

#: The valley J = (t1^2 + 100 t2^2) / 2, where descent starts, where it ends, and its patience.
CURVATURES = (1.0, 100.0)
START = (1.0, 1.0)
TOLERANCE = 1e-3
PATIENCE = 10_000

#: For curvatures between 1 and 100: lr = (2 / (1 + 10))^2, beta = ((10 - 1) / (10 + 1))^2.
BEST_LR, BEST_BETA = 4 / 121, 81 / 121


def momentum_step(theta: Array, v: Array, g: Array, lr: float, beta: float) -> tuple[Array, Array]:
    """v <- beta v + g, then theta <- theta - lr v; returns (theta, v). All arrays of one shape.

    Polyak 1964, as written in Sutskever et al. 2013 with the learning rate outside the velocity.
    """
    new_theta, new_v = np.zeros(theta.shape), np.zeros(theta.shape)
    for index in np.ndindex(*theta.shape):
        new_v[index] = beta * v[index] + g[index]
        new_theta[index] = theta[index] - lr * new_v[index]
    return new_theta, new_v


def momentum_norms(lr: float, beta: float, steps: int) -> list[float]:
    """Norm of theta at the start and after 1, 2, ..., `steps` iterations; inf once it overflows."""
    theta, velocity = list(START), [0.0] * len(START)
    norms = [math.hypot(*theta)]
    for _ in range(steps):
        for i, curvature in enumerate(CURVATURES):
            velocity[i] = beta * velocity[i] + curvature * theta[i]
            theta[i] = theta[i] - lr * velocity[i]
        norm = math.hypot(*theta)
        if not math.isfinite(norm):
            return norms + [math.inf] * (steps + 1 - len(norms))
        norms.append(norm)
    return norms


def momentum_iterations(lr: float, beta: float) -> int | None:
    """Iterations from (1, 1) and v = 0 until the norm of theta is first below 1e-3.

    The start is iteration 0. None when it takes more than 10 000.
    """
    for count, norm in enumerate(momentum_norms(lr, beta, PATIENCE)):
        if norm < TOLERANCE:
            return count
    return None


def adam_step(
    theta: Array,
    m: Array,
    r: Array,
    g: Array,
    t: int,
    lr: float = 1e-3,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
) -> tuple[Array, Array, Array]:
    """One step of Adam (Kingma and Ba 2015, algorithm 1); returns (theta, m, r), arrays of one shape.

    m and r are the running means of g and g^2, returned without the bias correction, which enters
    the step only. Raises ValueError if t < 1.
    """
    if t < 1:
        raise ValueError("steps are counted from 1")
    new_theta, new_m, new_r = np.zeros(theta.shape), np.zeros(theta.shape), np.zeros(theta.shape)
    for index in np.ndindex(*theta.shape):
        new_m[index] = beta1 * m[index] + (1.0 - beta1) * g[index]
        new_r[index] = beta2 * r[index] + (1.0 - beta2) * g[index] ** 2
        m_hat = new_m[index] / (1.0 - beta1**t)
        r_hat = new_r[index] / (1.0 - beta2**t)
        new_theta[index] = theta[index] - lr * m_hat / (math.sqrt(r_hat) + eps)
    return new_theta, new_m, new_r

"""Oracles for writing a sequence word by word: temperature, log-probability, the next word."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograder.reference.attention import softmax_row

Array = np.ndarray[Any, np.dtype[np.float64]]


def temperature_softmax(z: Array, tau: float) -> Array:
    """softmax(z / tau) of a vector (n,): flatter for a higher temperature (Hinton et al. 2015, equation 1).

    Raises ValueError if tau <= 0.
    """
    if tau <= 0:
        raise ValueError("a temperature is positive")
    return np.array(softmax_row([float(score) / tau for score in z]))


def sequence_log_probability(conditionals: Array) -> float:
    """Natural logarithm of the product of the conditionals (n,), each in (0, 1]: the sum of their logs.

    The chain rule: p(x_1 ... x_n) is the product of p(x_t | the words before).
    """
    return math.fsum(math.log(float(one)) for one in conditionals)


def sample_next(logits: Array, tau: float, u: float) -> int:
    """The first index i, in the vocabulary's order, with u < p_0 + ... + p_i; p = softmax(logits / tau).

    u in [0, 1): the inverse of the cumulative law, so that a uniform u gives index i with
    probability p_i. A u on a boundary goes to the next word. Raises ValueError if tau <= 0.
    """
    total = 0.0
    probabilities = temperature_softmax(logits, tau)
    for index, probability in enumerate(probabilities):
        total += float(probability)
        if u < total:
            return index
    return len(probabilities) - 1  # only rounding leads here


def boundaries(logits: Array, tau: float) -> Array:
    """The cumulative probabilities (n,): suites keep drawn u away from them."""
    return np.cumsum(temperature_softmax(logits, tau))

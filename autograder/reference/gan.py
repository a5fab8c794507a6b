"""Oracles for the adversarial game on a finite space: the best discriminator and its value.

Knows nothing of torch. A law is the list of the probabilities of the points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def optimal_discriminator(p_data: Sequence[float], p_g: Sequence[float]) -> list[float]:
    """At each point, the probability D that maximises p_data log D + p_g log(1 - D).

    It is p_data / (p_data + p_g) (Goodfellow et al. 2014, proposition 1); a point where both laws are
    zero never occurs, and has no answer here.
    """
    best: list[float] = []
    for data, generated in zip(p_data, p_g, strict=True):
        best.append(float(data) / (float(data) + float(generated)))
    return best


def gan_value(p_data: Sequence[float], p_g: Sequence[float]) -> float:
    """The sum of p_data log D + p_g log(1 - D) over the points, for the best D, in nats.

    A point of probability zero adds nothing to an expectation. Equal laws give -log 4, disjoint ones 0
    (Goodfellow et al. 2014, theorem 1).
    """
    value = 0.0
    for data, generated, best in zip(p_data, p_g, optimal_discriminator(p_data, p_g), strict=True):
        if data > 0:
            value += float(data) * math.log(best)
        if generated > 0:
            value += float(generated) * math.log(float(generated) / (float(data) + float(generated)))
    return value

"""Oracles for attacks on a linear classifier: score changes, FGSM, accuracy under attack, one training step.

Knows nothing of torch. The score of x is z = w.x + b, the probability of class 1 is 1 / (1 + exp(-z)),
labels are 0 or 1, and the loss is the cross-entropy. Weights and inputs are float64.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]
Labels = np.ndarray[Any, np.dtype[np.int64]]


def worst_score_change(w: Array, eps: float) -> float:
    """Largest change of w.x + b when every coordinate of x moves by at most eps: eps times the 1-norm of w.

    w: (d,). Each coordinate moves to the side where its own weight pushes the score the same way
    (Goodfellow, Shlens and Szegedy 2015, section 3). Raises ValueError if eps < 0.
    """
    _refuse_eps(eps)
    change = 0.0
    for weight in w:
        change += eps * abs(float(weight))
    return change


def fgsm(x: Array, w: Array, b: float, y: int, eps: float) -> Array:
    """x + eps sign(gradient of the cross-entropy with respect to x), with sign(0) = 0: shape (d,).

    The gradient is (p - y) w with 0 < p < 1, so p - y is negative for y = 1 and positive for y = 0,
    whatever the score: its sign needs no p, which rounds to 1 for large scores
    (Goodfellow, Shlens and Szegedy 2015, section 4). Raises ValueError if eps < 0 or y is not 0 or 1.
    """
    _refuse_eps(eps)
    _refuse_label(y)
    attacked = np.zeros(len(x))
    for j, weight in enumerate(w):
        move = 0.0
        if weight > 0:
            move = -eps if y == 1 else eps
        elif weight < 0:
            move = eps if y == 1 else -eps
        attacked[j] = x[j] + move
    return attacked


def attacked_accuracy(w: Array, b: float, X: Array, y: Labels, eps: float) -> float:
    """Share of the examples that are still classified rightly once each is attacked by FGSM.

    w: (d,), X: (n, d), y: (n,). The class is 1 where the score is positive, else 0.
    Raises ValueError if eps < 0 or a label is not 0 or 1.
    """
    _refuse_eps(eps)
    right = 0
    for x, label in zip(X, y, strict=True):
        score = _score(fgsm(x, w, b, int(label), eps), w, b)
        right += int(score > 0) == label
    return right / len(X)


def score_growth(dimensions: Sequence[int], weight: float, eps: float) -> tuple[list[float], list[float]]:
    """For each n: the worst and the root mean square change of the score of n weights of size `weight`.

    The second is over independent moves by +eps or -eps with probability one half: variances of
    independent terms add up, so it is eps weight sqrt(n), where the worst is eps weight n.
    Raises ValueError if eps < 0.
    """
    _refuse_eps(eps)
    worst: list[float] = []
    typical: list[float] = []
    for n in dimensions:
        sum_of_changes = 0.0
        sum_of_variances = 0.0
        for _ in range(n):
            sum_of_changes += eps * abs(weight)
            sum_of_variances += (eps * weight) ** 2
        worst.append(sum_of_changes)
        typical.append(math.sqrt(sum_of_variances))
    return worst, typical


def adversarial_training_step(
    w: Array, b: float, X: Array, y: Labels, eps: float, lr: float
) -> tuple[Array, float]:
    """(w, b) after one gradient step on half the mean clean loss plus half the mean attacked loss.

    The attacks are made against the given weights and held fixed; labels stay the true ones
    (Goodfellow, Shlens and Szegedy 2015, section 6, with alpha = 1/2).
    Raises ValueError if eps < 0 or a label is not 0 or 1.
    """
    _refuse_eps(eps)
    gradient_w = np.zeros(len(w))
    gradient_b = 0.0
    for x, label in zip(X, y, strict=True):
        for example in (x, fgsm(x, w, b, int(label), eps)):
            residual = _sigmoid(_score(example, w, b)) - float(label)
            for j in range(len(w)):
                gradient_w[j] += residual * example[j] / (2 * len(X))
            gradient_b += residual / (2 * len(X))
    new_w: Array = w - lr * gradient_w
    return new_w, float(b) - lr * gradient_b


def _score(x: Array, w: Array, b: float) -> float:
    score = float(b)
    for j in range(len(w)):
        score += float(w[j]) * float(x[j])
    return score


def _sigmoid(z: float) -> float:
    """Without overflow on either side."""
    if z >= 0:
        return 1.0 / (1.0 + math.exp(-z))
    return math.exp(z) / (1.0 + math.exp(z))


def _refuse_eps(eps: float) -> None:
    if eps < 0:
        raise ValueError("eps is at least 0")


def _refuse_label(y: int) -> None:
    if y not in (0, 1):
        raise ValueError("a label is 0 or 1")

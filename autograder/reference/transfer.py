"""Oracle for transfer: which parameters train once the backbone is frozen, and one step of training.

Knows nothing of torch: a model is the list of its parameters' names and shapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


def trainable(shapes: Mapping[str, tuple[int, ...]], head: str) -> dict[str, bool]:
    """For each parameter, whether it trains: it belongs to the submodule named `head`.

    shapes: the shape of each parameter by its dotted name, such as "body.0.weight".
    """
    return {name: name.startswith(f"{head}.") for name in shapes}


def trainable_count(shapes: Mapping[str, tuple[int, ...]], head: str) -> int:
    """How many numbers train: all the entries of the head's parameters, biases included."""
    total = 0
    for name, trains in trainable(shapes, head).items():
        if trains:
            entries = 1
            for side in shapes[name]:
                entries *= side
            total += entries
    return total


def head_step(values: Mapping[str, Array], x: Array, target: Array, lr: float) -> dict[str, Array]:
    """The parameters after one step of gradient descent in which the head alone trains.

    The model is features = relu(x W0^T + b0), output = features W2^T + b2; values: "0.weight" (h, d),
    "0.bias" (h,), "2.weight" (o, h), "2.bias" (o,). x: (n, d), target: (n, o). The loss is the sum of
    the squared errors.
    """
    features = np.maximum(x @ values["0.weight"].T + values["0.bias"], 0.0)
    output = features @ values["2.weight"].T + values["2.bias"]
    gradient_w = np.zeros_like(values["2.weight"])
    gradient_b = np.zeros_like(values["2.bias"])
    for i in range(len(x)):
        for o in range(target.shape[1]):
            slope = 2.0 * (output[i, o] - target[i, o])
            gradient_b[o] += slope
            for h in range(features.shape[1]):
                gradient_w[o, h] += slope * features[i, h]
    after = {name: value.copy() for name, value in values.items()}
    after["2.weight"] -= lr * gradient_w
    after["2.bias"] -= lr * gradient_b
    return after

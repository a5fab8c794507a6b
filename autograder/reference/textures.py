"""The embedded image set of ps3-depth: five kinds of texture with nuisance. numpy only.

The notebook holds the same functions in a locked cell; a test holds both to the same bytes.
An image is one texture of random period, phase, orientation, contrast and pair of colours, on a
lit background, half of the time with an opaque rectangle, and with noise on every pixel. Phase
and colours are random, so no class has a mean image of its own: a linear classifier stays near 26 %.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

CLASSES = ("horizontal stripes", "vertical stripes", "checkers", "dots", "rings")
SIDE = 32


def make_textures(per_class: int, seed: int) -> tuple[Array, Array]:
    """Images (5 * per_class, 32, 32, 3) and labels (5 * per_class,), both uint8, in random order.

    Values are rounded before they are added, so the bytes are the same on every processor tried.
    """
    rng = np.random.default_rng(seed)
    n = 5 * per_class
    labels = np.repeat(np.arange(5), per_class)
    rng.shuffle(labels)

    def draw(low: float, high: float, *shape: int) -> Array:
        return rng.uniform(low, high, (n, *(shape or (1, 1))))

    def rounded(values: Array) -> Array:
        return np.round(values, 4).astype(np.float32)

    side = np.arange(SIDE) - (SIDE - 1) / 2
    x, y = side[None, None, :] - draw(-8, 8), side[None, :, None] - draw(-8, 8)
    angle = draw(-0.35, 0.35) + np.where(labels == 1, np.pi / 2, 0.0)[:, None, None]
    frequency = 2 * np.pi / draw(5.0, 8.0)
    phase, other_phase = draw(0, 2 * np.pi), draw(0, 2 * np.pi)
    texture = np.empty((n, SIDE, SIDE))
    for label in range(5):
        own = labels == label
        k, p, q = frequency[own], phase[own], other_phase[own]
        c, s = k * np.cos(angle[own]), k * np.sin(angle[own])
        a, b = y[own] * c + x[own] * s + p, x[own] * c - y[own] * s + q
        if label <= 1:
            texture[own] = np.sin(a)
        elif label == 2:
            texture[own] = 1.5 * np.sin(a) * np.sin(b)
        elif label == 3:
            texture[own] = 1.2 * (np.cos(a) + np.cos(b)) - 0.6
        else:
            texture[own] = np.sin(k * np.sqrt(x[own] ** 2 + y[own] ** 2) + p)
    texture = (np.round(np.tanh(2 * texture) * 1024) / 1024).astype(np.float32)

    colour = rng.standard_normal((n, 1, 1, 3))
    colour = rounded(colour / np.sqrt((colour**2).sum(-1, keepdims=True)) * draw(0.05, 0.60, 1, 1, 1))
    light = draw(0, 2 * np.pi)
    lit = rounded((side[None, None, :] * np.cos(light) + side[None, :, None] * np.sin(light)) / SIDE)
    images = rounded(draw(0.3, 0.7, 1, 1, 3)) + texture[..., None] * colour
    images += lit[..., None] * rounded(0.4 * rng.standard_normal((n, 1, 1, 3)))
    left, top, width, height = draw(-16, 16), draw(-16, 16), draw(2, 8), draw(2, 8)
    hidden = (np.abs(side[None, None, :] - left) < width) & (np.abs(side[None, :, None] - top) < height)
    hidden &= draw(0, 1) < 0.5
    images = np.where(hidden[..., None], rounded(draw(0.1, 0.9, 1, 1, 3)), images)
    images += np.float32(0.10) * rng.standard_normal(images.shape, dtype=np.float32)
    return np.clip(images * np.float32(255), 0, 255).astype(np.uint8), labels.astype(np.uint8)


def texture_sets(
    train_per_class: int = 500, test_per_class: int = 200, seed: int = 0
) -> tuple[Array, Array, Array, Array]:
    """X_train, y_train, X_test, y_test as `make_textures` gives them, the test set from another seed."""
    return (*make_textures(train_per_class, seed), *make_textures(test_per_class, seed + 10_000))

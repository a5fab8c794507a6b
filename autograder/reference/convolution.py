"""Oracles for convolutional layers: sizes, counts, maps and matrices, by obvious loops.

Knows nothing of torch. All maps are float64, indexed [row, column].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]

#: The worked example: two rows with the edge in one place, four with the edge a column further.
EXAMPLE_IMAGE: tuple[tuple[int, ...], ...] = ((1, 1, 1, 8, 8, 8),) * 2 + ((1, 1, 1, 1, 8, 8),) * 4
#: A detector of vertical edges: minus left, plus right.
EXAMPLE_KERNEL: tuple[tuple[int, ...], ...] = ((-1, 0, 1),) * 3
#: What enters on the left when the image moves one column to the right.
EXAMPLE_FILL = 1


def dense_parameters(n_in: int, n_out: int) -> int:
    """Weights and biases of a dense layer: one weight a pair of units, one bias an output unit."""
    weights = n_in * n_out
    biases = n_out
    return weights + biases


def conv_parameters(c_in: int, c_out: int, k: int, bias: bool = True) -> int:
    """Parameters of `c_out` filters of shape (c_in, k, k), with one bias a filter if `bias`.

    The size of the image does not appear: a filter's weights serve at every position.
    """
    one_filter = c_in * k * k
    if bias:
        one_filter += 1
    return c_out * one_filter


def output_size(n: int, k: int, padding: int = 0, stride: int = 1) -> int:
    """Side of the output: how many windows of side `k` fit in `n` pixels padded on both sides.

    Equals floor((n + 2 padding - k) / stride) + 1 (Dumoulin and Visin 2016, relation 6).
    Raises ValueError if n, k or stride < 1, padding < 0, or the window exceeds the padded side.
    """
    if n < 1 or k < 1 or stride < 1 or padding < 0:
        raise ValueError("n, k and stride are at least 1, padding at least 0")
    padded = n + 2 * padding
    if k > padded:
        raise ValueError("the window is larger than the padded image")
    count = 0
    start = 0
    while start + k <= padded:
        count += 1
        start += stride
    return count


def same_padding(k: int) -> int:
    """The padding that keeps the side at stride 1: the p with n + 2 p - k + 1 = n.

    Raises ValueError if k < 1 or k is even: k - 1 pixels do not split into two equal sides.
    """
    if k < 1 or k % 2 == 0:
        raise ValueError("only an odd, positive k has a padding that keeps the side")
    return (k - 1) // 2


def cross_correlate(image: Array, kernel: Array) -> Array:
    """Valid cross-correlation of image (H, W) and kernel (k, l): shape (H - k + 1, W - l + 1).

    out[i, j] = sum over a, b of image[i + a, j + b] kernel[a, b]; the kernel is not flipped
    (Goodfellow, Bengio and Courville 2016, equation 9.6).
    Raises ValueError if the kernel exceeds the image in either direction.
    """
    height, width = image.shape
    k_rows, k_columns = kernel.shape
    if k_rows > height or k_columns > width:
        raise ValueError("the kernel is larger than the image")
    out = np.zeros((height - k_rows + 1, width - k_columns + 1))
    for i in range(height - k_rows + 1):
        for j in range(width - k_columns + 1):
            for a in range(k_rows):
                for b in range(k_columns):
                    out[i, j] += image[i + a, j + b] * kernel[a, b]
    return out


def conv2d(x: Array, weight: Array, bias: Array, padding: int = 0, stride: int = 1) -> Array:
    """A convolutional layer: x (C_in, H, W), weight (C_out, C_in, k, k), bias (C_out,).

    Returns (C_out, H', W') with H', W' given by `output_size`. Zeros are added on the four sides
    of every channel, each filter sums over all input channels, then adds its own bias; the kernel
    is not flipped. Raises ValueError where `output_size` does.
    """
    c_in, height, width = x.shape
    c_out, _, k, _ = weight.shape
    rows = output_size(height, k, padding, stride)
    columns = output_size(width, k, padding, stride)
    out = np.zeros((c_out, rows, columns))
    for o in range(c_out):
        for i in range(rows):
            for j in range(columns):
                total = float(bias[o])
                for c in range(c_in):
                    for a in range(k):
                        for b in range(k):
                            row = i * stride + a - padding
                            column = j * stride + b - padding
                            if 0 <= row < height and 0 <= column < width:
                                total += float(x[c, row, column]) * float(weight[o, c, a, b])
                out[o, i, j] = total
    return out


def convolution_matrix(kernel: Array, height: int, width: int) -> Array:
    """The matrix W with W @ image.ravel() = cross_correlate(image, kernel).ravel().

    kernel: (k, l). Returns ((height - k + 1) (width - l + 1), height * width): row r = i (W - l + 1) + j
    holds the kernel's entries at the pixels of the window at (i, j), and zeros elsewhere.
    Raises ValueError if the kernel exceeds the image in either direction.
    """
    k_rows, k_columns = kernel.shape
    if k_rows > height or k_columns > width:
        raise ValueError("the kernel is larger than the image")
    rows, columns = height - k_rows + 1, width - k_columns + 1
    matrix = np.zeros((rows * columns, height * width))
    for i in range(rows):
        for j in range(columns):
            for a in range(k_rows):
                for b in range(k_columns):
                    matrix[i * columns + j, (i + a) * width + (j + b)] = kernel[a, b]
    return matrix


def max_pool(feature_map: Array, size: int = 2) -> Array:
    """Largest entry of each size x size block of (H, W): shape (H // size, W // size).

    Blocks do not overlap and start at the top left; incomplete ones are dropped.
    Raises ValueError if size < 1 or no block fits.
    """
    height, width = feature_map.shape
    if size < 1 or size > height or size > width:
        raise ValueError("no block fits in the map")
    out = np.zeros((height // size, width // size))
    for i in range(height // size):
        for j in range(width // size):
            best = -np.inf
            for a in range(size):
                for b in range(size):
                    best = max(best, float(feature_map[i * size + a, j * size + b]))
            out[i, j] = best
    return out


def receptive_field(layers: Sequence[Sequence[int]]) -> int:
    """Side of the input window that one output unit sees; layers are (kernel, stride), input first.

    r <- r + (kernel - 1) jump, then jump <- jump * stride, from r = jump = 1
    (Araujo, Norris and Sim 2019, equation 2). An empty list gives 1.
    Raises ValueError if a kernel or a stride is below 1.
    """
    field, jump = 1, 1
    for kernel, stride in layers:
        if kernel < 1 or stride < 1:
            raise ValueError("a kernel and a stride are at least 1")
        field += (kernel - 1) * jump
        jump *= stride
    return field


def lenet_parameters(side: int = 28, padding: int = 2) -> dict[str, int]:
    """Counts of the simplified LeNet, by layer and in total, with keys C1, C2, F1, F2, F3, total.

    One channel of side x side; 6 maps of 5x5 with `padding`, 2x2 max-pooling, 16 maps of 5x5
    without padding, 2x2 max-pooling; dense layers of 120, 84 and 10 units. After LeCun et al. 1998,
    with full connections in the second convolution and pooling without parameters.
    """
    after_c1 = output_size(side, 5, padding) // 2
    after_c2 = output_size(after_c1, 5) // 2
    counts = {
        "C1": conv_parameters(1, 6, 5),
        "C2": conv_parameters(6, 16, 5),
        "F1": dense_parameters(16 * after_c2 * after_c2, 120),
        "F2": dense_parameters(120, 84),
        "F3": dense_parameters(84, 10),
    }
    counts["total"] = sum(counts.values())
    return counts


def example_image() -> Array:
    """The worked example's image, (6, 6)."""
    return np.array(EXAMPLE_IMAGE, dtype=np.float64)


def example_kernel() -> Array:
    """The worked example's kernel, (3, 3)."""
    return np.array(EXAMPLE_KERNEL, dtype=np.float64)


def shift_right(image: Array, fill: float) -> Array:
    """The image (H, W) moved one column to the right; `fill` enters on the left."""
    height, width = image.shape
    out = np.full((height, width), float(fill))
    for i in range(height):
        for j in range(1, width):
            out[i, j] = image[i, j - 1]
    return out


def shifted_first_row() -> Array:
    """First row, (4,), of the worked example's map once the image has moved one column."""
    moved: Array = cross_correlate(shift_right(example_image(), EXAMPLE_FILL), example_kernel())
    row: Array = moved[0]
    return row


def shifted_pooled() -> Array:
    """The same map, (2, 2), after 2x2 max-pooling."""
    return max_pool(cross_correlate(shift_right(example_image(), EXAMPLE_FILL), example_kernel()))

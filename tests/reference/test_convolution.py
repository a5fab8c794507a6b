"""The oracles of the convolution exercises against printed values and independent computations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.reference import convolution as reference

Array = np.ndarray[Any, np.dtype[np.float64]]

SIZES = st.integers(min_value=1, max_value=7)
SEEDS = st.integers(min_value=0, max_value=2**32 - 1)


def drawn(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).normal(size=shape)


def parameters(layer: torch.nn.Module) -> int:
    return sum(one.numel() for one in layer.parameters())


# Counts


@pytest.mark.parametrize(
    ("n_in", "n_out", "count"),
    [(784, 100, 78_500), (784, 4704, 3_692_640), (100, 100, 10_100), (3, 1, 4)],
)
def test_dense_parameters_known(n_in: int, n_out: int, count: int) -> None:
    assert reference.dense_parameters(n_in, n_out) == count


@given(SIZES, SIZES)
def test_dense_parameters_as_torch(n_in: int, n_out: int) -> None:
    assert reference.dense_parameters(n_in, n_out) == parameters(torch.nn.Linear(n_in, n_out))


@pytest.mark.parametrize(
    ("k", "c_in", "c_out", "bias", "count"),
    [
        (5, 1, 6, True, 156),
        (5, 6, 16, True, 2_416),
        (3, 3, 8, True, 224),
        (3, 128, 256, True, 295_168),
        (1, 64, 64, True, 4_160),
        (3, 16, 16, False, 2_304),
    ],
)
def test_conv_parameters_known(k: int, c_in: int, c_out: int, bias: bool, count: int) -> None:
    assert reference.conv_parameters(c_in, c_out, k, bias) == count


@given(SIZES, SIZES, SIZES, st.booleans())
def test_conv_parameters_as_torch(c_in: int, c_out: int, k: int, bias: bool) -> None:
    layer = torch.nn.Conv2d(c_in, c_out, k, bias=bias)
    assert reference.conv_parameters(c_in, c_out, k, bias) == parameters(layer)


def lenet(padding: int, flat: int) -> torch.nn.Sequential:
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 6, 5, padding=padding),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(6, 16, 5),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(flat, 120),
        torch.nn.Linear(120, 84),
        torch.nn.Linear(84, 10),
    )


def test_lenet_parameters_known() -> None:
    assert reference.lenet_parameters() == {
        "C1": 156,
        "C2": 2_416,
        "F1": 48_120,
        "F2": 10_164,
        "F3": 850,
        "total": 61_706,
    }


@pytest.mark.parametrize(("padding", "flat", "total"), [(2, 400, 61_706), (0, 256, 44_426)])
def test_lenet_parameters_as_torch(padding: int, flat: int, total: int) -> None:
    net = lenet(padding, flat)
    assert net(torch.zeros(1, 1, 28, 28)).shape == (1, 10)
    assert reference.lenet_parameters(padding=padding)["total"] == parameters(net) == total


# Sizes


@pytest.mark.parametrize(
    ("arguments", "side"),
    [
        ((224, 7, 3, 2), 112),
        ((6, 3, 0, 1), 4),
        ((28, 5, 2, 1), 28),
        ((7, 3, 0, 2), 3),
        ((227, 11, 0, 4), 55),
        ((10, 3, 1, 3), 4),
        ((28, 5, 0, 1), 24),
        ((5, 5, 0, 2), 1),
        ((8, 3, 0, 4), 2),
    ],
)
def test_output_size_known(arguments: tuple[int, int, int, int], side: int) -> None:
    assert reference.output_size(*arguments) == side


def test_output_size_defaults() -> None:
    assert reference.output_size(28, 5) == 24


@given(
    st.integers(min_value=1, max_value=40),
    st.integers(min_value=1, max_value=12),
    st.integers(min_value=0, max_value=5),
    st.integers(min_value=1, max_value=7),
)
def test_output_size_as_torch_and_formula(n: int, k: int, padding: int, stride: int) -> None:
    if k > n + 2 * padding:
        with pytest.raises(ValueError, match="larger"):
            reference.output_size(n, k, padding, stride)
        return
    out = torch.nn.functional.conv1d(
        torch.zeros(1, 1, n), torch.zeros(1, 1, k), padding=padding, stride=stride
    )
    side = reference.output_size(n, k, padding, stride)
    assert side == out.shape[-1] == (n + 2 * padding - k) // stride + 1


@pytest.mark.parametrize(
    "arguments",
    [
        (4, 5, 0, 1),
        (3, 8, 2, 1),
        (7, 0, 0, 1),
        (7, -1, 0, 1),
        (7, 3, 0, 0),
        (7, 3, 0, -2),
        (7, 3, -1, 1),
        (0, 1, 3, 1),
        (-2, 1, 3, 1),
    ],
)
def test_output_size_impossible(arguments: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError):
        reference.output_size(*arguments)


@given(st.integers(min_value=1, max_value=30), st.integers(min_value=1, max_value=30))
def test_same_padding_keeps_the_side(k: int, n: int) -> None:
    if k % 2 == 0:
        with pytest.raises(ValueError, match="odd"):
            reference.same_padding(k)
        assert all(reference.output_size(60, k, p) != 60 for p in range(k + 1))
    else:
        assert reference.output_size(n, k, reference.same_padding(k)) == n


@pytest.mark.parametrize("k", [0, -1, -2, -7])
def test_same_padding_impossible(k: int) -> None:
    with pytest.raises(ValueError, match="positive"):
        reference.same_padding(k)


# Maps


def test_cross_correlate_known() -> None:
    got = reference.cross_correlate(reference.example_image(), reference.example_kernel())
    assert got.tolist() == [[0, 14, 21, 7], [0, 7, 21, 14], [0, 0, 21, 21], [0, 0, 21, 21]]


def test_flipped_kernel_gives_the_opposite_map() -> None:
    image, kernel = reference.example_image(), reference.example_kernel()
    flipped = reference.cross_correlate(image, kernel[::-1, ::-1])
    assert np.array_equal(flipped, -reference.cross_correlate(image, kernel))


@given(SIZES, SIZES, SIZES, SIZES, SEEDS)
def test_cross_correlate_as_torch(height: int, width: int, k: int, m: int, seed: int) -> None:
    image, kernel = drawn(seed, height, width), drawn(seed + 1, k, m)
    if k > height or m > width:
        with pytest.raises(ValueError, match="larger"):
            reference.cross_correlate(image, kernel)
        return
    expected = torch.nn.functional.conv2d(torch.tensor(image)[None, None], torch.tensor(kernel)[None, None])
    got = reference.cross_correlate(image, kernel)
    assert got.shape == expected.shape[2:]
    assert np.allclose(got, expected[0, 0].numpy(), rtol=1e-12, atol=1e-12)


@settings(deadline=None)
@given(
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.tuples(st.integers(1, 6), st.integers(1, 6)),
    st.integers(1, 4),
    st.integers(0, 2),
    st.integers(1, 3),
    SEEDS,
)
def test_conv2d_as_torch(
    channels: tuple[int, int], sides: tuple[int, int], k: int, padding: int, stride: int, seed: int
) -> None:
    (c_in, c_out), (height, width) = channels, sides
    x, weight, bias = (
        drawn(seed, c_in, height, width),
        drawn(seed + 1, c_out, c_in, k, k),
        drawn(seed + 2, c_out),
    )
    if k > min(height, width) + 2 * padding:
        with pytest.raises(ValueError, match="larger"):
            reference.conv2d(x, weight, bias, padding, stride)
        return
    expected = torch.nn.functional.conv2d(
        torch.tensor(x)[None], torch.tensor(weight), torch.tensor(bias), padding=padding, stride=stride
    )[0]
    got = reference.conv2d(x, weight, bias, padding, stride)
    assert got.shape == expected.shape
    assert np.allclose(got, expected.numpy(), rtol=1e-12, atol=1e-12)


def test_conv2d_leaves_its_arguments_alone() -> None:
    arguments = drawn(0, 2, 4, 5), drawn(1, 3, 2, 2, 2), drawn(2, 3)
    before = [one.copy() for one in arguments]
    reference.conv2d(*arguments, padding=1)
    assert all(np.array_equal(one, old) for one, old in zip(arguments, before, strict=True))


@settings(deadline=None)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 4), st.integers(1, 4), SEEDS)
def test_convolution_matrix_is_the_layer(
    height: int,
    width: int,
    k: int,
    m: int,
    seed: int,
) -> None:
    kernel = drawn(seed, k, m)
    if k > height or m > width:
        with pytest.raises(ValueError, match="larger"):
            reference.convolution_matrix(kernel, height, width)
        return
    matrix = reference.convolution_matrix(kernel, height, width)
    assert matrix.shape == ((height - k + 1) * (width - m + 1), height * width)
    assert (np.count_nonzero(matrix, axis=1) == k * m).all()
    basis = torch.eye(height * width, dtype=torch.float64).reshape(-1, 1, height, width)
    columns = torch.nn.functional.conv2d(basis, torch.tensor(kernel)[None, None])
    assert np.allclose(matrix, columns.flatten(1).T.numpy(), rtol=0, atol=1e-15)
    image = drawn(seed + 1, height, width)
    assert np.allclose(matrix @ image.ravel(), reference.cross_correlate(image, kernel).ravel())


def test_max_pool_known() -> None:
    example = reference.cross_correlate(reference.example_image(), reference.example_kernel())
    assert reference.max_pool(example).tolist() == [[14, 21], [0, 21]]
    counting = np.arange(25.0).reshape(5, 5)
    assert reference.max_pool(counting).tolist() == [[6, 8], [16, 18]]
    assert reference.max_pool(np.array([[-4.0, -2.0], [-1.0, -3.0]])).tolist() == [[-1]]


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 5), SEEDS)
def test_max_pool_as_torch(height: int, width: int, size: int, seed: int) -> None:
    feature_map = drawn(seed, height, width) - 1.0
    if size > min(height, width):
        with pytest.raises(ValueError, match="no block"):
            reference.max_pool(feature_map, size)
        return
    expected = torch.nn.functional.max_pool2d(torch.tensor(feature_map)[None, None], size)[0, 0]
    assert np.array_equal(reference.max_pool(feature_map, size), expected.numpy())


def test_max_pool_refuses_an_empty_block() -> None:
    with pytest.raises(ValueError, match="no block"):
        reference.max_pool(np.ones((2, 2)), 0)


# The moved image


def test_shifted_known() -> None:
    assert reference.shifted_first_row().tolist() == [0, 0, 14, 21]
    assert reference.shifted_pooled().tolist() == [[0, 21], [0, 21]]


@given(SIZES, SIZES, SEEDS)
def test_shift_right_drops_the_last_column(height: int, width: int, seed: int) -> None:
    image = drawn(seed, height, width)
    moved = reference.shift_right(image, 2.5)
    assert np.array_equal(moved, np.hstack([np.full((height, 1), 2.5), image[:, :-1]]))


@given(st.integers(3, 7), st.integers(4, 7), st.integers(1, 3), st.integers(1, 3), SEEDS)
def test_cross_correlation_follows_the_shift(
    height: int,
    width: int,
    k: int,
    m: int,
    seed: int,
) -> None:
    image, kernel = drawn(seed, height, width), drawn(seed + 1, k, m)
    moved = reference.cross_correlate(reference.shift_right(image, 1.0), kernel)
    assert np.allclose(moved[:, 1:], reference.cross_correlate(image, kernel)[:, :-1])


# Receptive fields

LAYERS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 3)), max_size=5)


@pytest.mark.parametrize(
    ("layers", "field"),
    [
        ([], 1),
        ([(5, 1)], 5),
        ([(3, 1)], 3),
        ([(3, 1), (3, 1)], 5),
        ([(3, 1), (3, 1), (2, 2)], 6),
        ([(3, 1), (3, 1), (2, 2), (3, 1)], 10),
        ([(3, 1), (2, 2), (3, 1), (2, 2), (3, 1)], 18),
        ([(7, 2), (3, 2), (3, 1), (3, 1)], 27),
    ],
)
def test_receptive_field_known(layers: list[tuple[int, int]], field: int) -> None:
    assert reference.receptive_field(layers) == field


@given(LAYERS)
def test_receptive_field_by_walking_back(layers: list[tuple[int, int]]) -> None:
    """The window is from the smallest to the largest pixel that unit 0 of the last layer reads."""
    seen = {0}
    for kernel, stride in reversed(layers):
        seen = {unit * stride + offset for unit in seen for offset in range(kernel)}
    assert reference.receptive_field(layers) == max(seen) - min(seen) + 1


@given(LAYERS)
def test_receptive_field_is_the_smallest_input_with_one_output(layers: list[tuple[int, int]]) -> None:
    side = reference.receptive_field(layers)
    for kernel, stride in layers:
        side = reference.output_size(side, kernel, stride=stride)
    assert side == 1


@pytest.mark.parametrize("layers", [[(0, 1)], [(3, 0)], [(3, 1), (-1, 1)]])
def test_receptive_field_impossible(layers: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        reference.receptive_field(layers)

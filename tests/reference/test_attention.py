"""The oracles of the attention exercises against printed values and independent computations."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.reference import attention as reference

Array = np.ndarray[Any, np.dtype[np.float64]]

SIZES = st.integers(min_value=1, max_value=6)
SEEDS = st.integers(min_value=0, max_value=2**32 - 1)
SCALES = st.sampled_from([0.1, 1.0, 30.0, 1000.0])


def drawn(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).normal(size=shape)


def same(got: Any, expected: Any) -> bool:
    return np.shape(got) == np.shape(expected) and np.allclose(got, expected, rtol=1e-9, atol=1e-12)


# Softmax


def test_softmax_known() -> None:
    assert np.allclose(reference.softmax(np.array([2, 1, 0.1])), [0.6590, 0.2424, 0.0986], atol=5e-5)
    assert same(reference.softmax(np.array([1000.0, 1000.0])), [0.5, 0.5])
    assert same(reference.softmax(np.array([-1000.0, 1000.0, -1000.0])), [0, 1, 0])


@given(SIZES, SIZES, SEEDS, SCALES, st.sampled_from([-2, -1, 0, 1]))
def test_softmax_of_a_matrix_as_torch(n: int, m: int, seed: int, scale: float, axis: int) -> None:
    z = scale * drawn(seed, n, m)
    got = reference.softmax(z, axis)
    assert same(got, torch.softmax(torch.tensor(z), dim=axis).numpy())
    assert same(got.sum(axis=axis), np.ones(got.shape[1 + axis if axis < 0 else 1 - axis]))


@given(SIZES, SEEDS, SCALES, st.floats(min_value=-50, max_value=50))
def test_softmax_of_a_vector_does_not_see_a_shift(n: int, seed: int, scale: float, shift: float) -> None:
    z = scale * drawn(seed, n)
    assert same(reference.softmax(z), torch.softmax(torch.tensor(z), dim=0).numpy())
    assert np.allclose(reference.softmax(z + shift), reference.softmax(z), rtol=1e-9)


# Attention


def test_attention_known() -> None:
    words = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    got = reference.attention(words, words, words)
    assert np.allclose(got, [[0.8022, 0.5989], [0.5989, 0.8022], [0.7517, 0.7517]], atol=5e-5)


def test_attention_with_one_key_is_its_value() -> None:
    got = reference.attention(np.array([[3.0, -1.0]]), np.array([[7.0, 2.0]]), np.array([[5.0, 6.0]]))
    assert same(got, [[5, 6]])


@given(SIZES, SIZES, SIZES, SIZES, SEEDS, SCALES)
def test_attention_as_torch(n_q: int, n_k: int, d_k: int, d_v: int, seed: int, scale: float) -> None:
    q, k, v = scale * drawn(seed, n_q, d_k), drawn(seed + 1, n_k, d_k), drawn(seed + 2, n_k, d_v)
    expected = torch.nn.functional.scaled_dot_product_attention(
        torch.tensor(q)[None], torch.tensor(k)[None], torch.tensor(v)[None]
    )
    assert np.allclose(reference.attention(q, k, v), expected[0].numpy(), rtol=1e-7, atol=1e-9)


def test_hand_computation_exactly() -> None:
    assert reference.weights_by_hand() == [Fraction(6, 10), Fraction(3, 10), Fraction(1, 10)]
    assert reference.output_by_hand() == [Fraction(7), Fraction(4)]


def hand_example() -> tuple[Array, Array, Array]:
    query = np.array([[reference.HAND_QUERY, 0.0, 0.0, 0.0]])
    keys = np.zeros((3, reference.HAND_WIDTH))
    keys[:, 0] = [math.log(key) for key in reference.HAND_KEYS]
    return query, keys, np.array(reference.HAND_VALUES, dtype=np.float64)


def test_hand_computation_is_what_attention_gives() -> None:
    query, keys, values = hand_example()
    assert same(reference.attention(query, keys, np.eye(3)), [[0.6, 0.3, 0.1]])
    assert same(reference.attention(query, keys, values), [[7, 4]])


@pytest.mark.parametrize(("divisor", "weights"), [(1.0, (0.783, 0.196, 0.022)), (4.0, (0.473, 0.334, 0.193))])
def test_hand_computation_tells_the_divisors_apart(divisor: float, weights: tuple[float, ...]) -> None:
    query, keys, _ = hand_example()
    assert np.allclose(reference.softmax((query @ keys.T) / divisor)[0], weights, atol=5e-4)


# Masks


def test_causal_weights_known() -> None:
    assert same(reference.causal_weights(np.zeros((2, 2))), [[1, 0], [0.5, 0.5]])
    got = reference.causal_weights(np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [0.0, 0.0, 1000.0]]))
    assert np.allclose(got, [[1.0, 0.0, 0.0], [0.2689, 0.7311, 0.0], [0.0, 0.0, 1.0]], atol=5e-5)


@given(SIZES, SEEDS, SCALES)
def test_causal_weights_as_torch(n: int, seed: int, scale: float) -> None:
    scores = scale * drawn(seed, n, n)
    mask = torch.ones(n, n, dtype=torch.bool).triu(1)
    expected = torch.tensor(scores).masked_fill(mask, -math.inf).softmax(dim=1)
    assert same(reference.causal_weights(scores), expected.numpy())


@given(st.integers(min_value=2, max_value=6), SEEDS)
def test_causal_weights_do_not_see_the_future(n: int, seed: int) -> None:
    scores = drawn(seed, n, n)
    other = np.where(np.triu(np.ones((n, n)), 1) > 0, 1000.0, scores)
    assert np.array_equal(reference.causal_weights(scores), reference.causal_weights(other))


# Self-attention and permutations


@given(SIZES, SIZES, SIZES, SIZES, SEEDS)
def test_self_attention_as_torch(n: int, d: int, d_k: int, d_v: int, seed: int) -> None:
    x, w_q, w_k = drawn(seed, n, d), drawn(seed + 1, d, d_k), drawn(seed + 2, d, d_k)
    w_v = drawn(seed + 3, d, d_v)
    q, k, v = (torch.tensor(x @ w)[None] for w in (w_q, w_k, w_v))
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    assert np.allclose(reference.self_attention(x, w_q, w_k, w_v), expected[0].numpy(), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    ("perm", "rows"),
    [
        ([1, 2, 0], [[3, 4], [5, 6], [1, 2]]),
        ([1, 0, 2], [[3, 4], [1, 2], [5, 6]]),
    ],
)
def test_permuted_output_known(perm: list[int], rows: list[list[int]]) -> None:
    got = reference.permuted_output(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), perm)
    assert got.tolist() == rows


@given(SIZES, SIZES, SEEDS)
def test_self_attention_is_equivariant(n: int, d: int, seed: int) -> None:
    x, w_q, w_k, w_v = drawn(seed, n, d), *(drawn(seed + i, d, d) for i in (1, 2, 3))
    perm = np.random.default_rng(seed).permutation(n)
    matrix = np.eye(n)[perm]
    expected = matrix @ reference.self_attention(x, w_q, w_k, w_v)
    assert same(reference.self_attention(matrix @ x, w_q, w_k, w_v), expected)
    assert same(
        reference.permuted_output(reference.self_attention(x, w_q, w_k, w_v), perm.tolist()), expected
    )


# Positions


@pytest.mark.parametrize(
    ("t", "d", "values"),
    [
        (0, 4, (0, 1, 0, 1)),
        (1, 4, (0.8415, 0.5403, 0.0100, 0.99995)),
        (2, 4, (0.9093, -0.4161, 0.0200, 0.9998)),
        (7, 8, (0.6570, 0.7539, 0.6442, 0.7648, 0.0699, 0.9976, 0.0070, 1.0000)),
    ],
)
def test_positional_encoding_known(t: int, d: int, values: tuple[float, ...]) -> None:
    assert np.allclose(reference.positional_encoding(t, d), values, atol=6e-5)


@given(st.integers(min_value=0, max_value=500), st.integers(min_value=1, max_value=16))
def test_positional_encoding_by_arrays(t: int, half: int) -> None:
    d = 2 * half
    angles = t * np.exp(-math.log(10_000) * np.arange(0, d, 2) / d)
    expected = np.stack([np.sin(angles), np.cos(angles)], axis=1).ravel()
    assert np.allclose(reference.positional_encoding(t, d), expected, atol=1e-9)


@given(st.integers(min_value=0, max_value=80), st.integers(min_value=0, max_value=80))
def test_positional_encodings_meet_by_their_distance_alone(s: int, t: int) -> None:
    product = reference.positional_encoding(s, 12) @ reference.positional_encoding(t, 12)
    shifted = reference.positional_encoding(s + 5, 12) @ reference.positional_encoding(t + 5, 12)
    assert math.isclose(product, shifted, abs_tol=1e-9)


@pytest.mark.parametrize("d", [0, -1, -2, -4, 1, 3, 7])
def test_positional_encoding_impossible(d: int) -> None:
    with pytest.raises(ValueError, match="even"):
        reference.positional_encoding(3, d)


# Counts


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        ((512, 8, 2048, 6), 18_914_304),
        ((512, 8, 2048, 1), 3_152_384),
        ((8, 2, 16, 1), 600),
        ((16, 4, 16, 2), 3_392),
    ],
)
def test_encoder_parameters_known(arguments: tuple[int, int, int, int], count: int) -> None:
    assert reference.encoder_parameters(*arguments) == count


@settings(max_examples=30, deadline=None)
@given(SIZES, SIZES, SIZES, st.integers(min_value=1, max_value=3))
def test_encoder_parameters_as_torch(width: int, h: int, d_ff: int, n_blocks: int) -> None:
    layers = [torch.nn.TransformerEncoderLayer(width * h, h, d_ff, batch_first=True) for _ in range(n_blocks)]
    expected = sum(one.numel() for layer in layers for one in layer.parameters())
    assert reference.encoder_parameters(width * h, h, d_ff, n_blocks) == expected


@pytest.mark.parametrize(("d", "h"), [(512, 7), (10, 4), (6, 12)])
def test_encoder_parameters_impossible(d: int, h: int) -> None:
    with pytest.raises(ValueError, match="divides"):
        reference.encoder_parameters(d, h, 32, 2)


# Diagnosis


@pytest.mark.parametrize(
    ("gradients", "activations", "verdict"),
    [
        pytest.param([2.485e-10, 1.153e-2], [0.072, 0.015], False, id="plain convolutions"),
        pytest.param([15.0, 54.84], [0.286, 25.077], False, id="naive skips"),
        pytest.param([0.7508, 0.7454], [0.459, 1.421], True, id="pre-norm convolutions"),
        pytest.param([1.142e-8, 1.237e-8], [0.104, 4.85e-9], False, id="bare attention"),
        pytest.param([0.377, 0.3557], [0.803, 1.07], True, id="pre-norm attention"),
        pytest.param([1e-9, 1e-9], [0.5, 0.6], False, id="dead gradient, good activations"),
        pytest.param([0.3, 0.3], [0.5, 80.0], False, id="exploded activations"),
        pytest.param([1e-3, 10.0], [0.5, 0.6], False, id="ratio 1e-4, first gradient 1e-3"),
        pytest.param([0.3, 1e-8, 0.3], [0.5, 0.5, 0.6], False, id="dead in the middle"),
        pytest.param([0.3, 0.3, 0.3], [0.5, 90.0, 0.6], True, id="only the ends of the activations count"),
        pytest.param([5e-5, 4e-3], [0.5, 4.5], True, id="within all three bounds"),
    ],
)
def test_healthy_known(gradients: list[float], activations: list[float], verdict: bool) -> None:
    assert reference.healthy(gradients, activations) is verdict


@given(
    st.lists(st.floats(min_value=1e-9, max_value=1e3), min_size=2, max_size=6),
    st.lists(st.floats(min_value=1e-9, max_value=1e3), min_size=2, max_size=6),
)
def test_healthy_by_logarithms(gradients: list[float], activations: list[float]) -> None:
    level = abs(math.log10(gradients[0]) - math.log10(gradients[-1]))
    bounded = abs(math.log10(activations[0]) - math.log10(activations[-1]))
    low = math.log10(min(gradients))
    if min(abs(level - 2), abs(bounded - 1), abs(low + 6)) < 1e-9:
        return
    assert reference.healthy(gradients, activations) is (level < 2 and bounded < 1 and low > -6)

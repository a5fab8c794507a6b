"""The printed values of ps3-depth, measured anew, and the oracle against torch's own modules."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.reference import depth as reference
from autograder.reference.textures import CLASSES, make_textures, texture_sets

ROOT = Path(__file__).parents[2]
#: Printed values have three or four digits; plain ratios are products of twenty factors.
PRINTED, PLAIN = 1e-3, 1e-2


def near(got: float, printed: float, rtol: float = PRINTED) -> bool:
    return bool(abs(got - printed) <= rtol * abs(printed))


def line(net: Any) -> tuple[float, ...]:
    norms, trace, loss = reference.measure_gradient(net)
    return loss, norms[0], norms[-1], norms[0] / norms[-1], trace[0], trace[-1]


def ratio(net: Any, **about: Any) -> float:
    norms, _, _ = reference.measure_gradient(net, **about)
    return norms[0] / norms[-1]


# ---- what is printed ----

TABLE = {
    "plain": (1.601, 2.485e-10, 1.153e-2, 2.155e-8, 0.072, 0.015),
    "naive": (17.428, 1.500e1, 5.484e1, 2.735e-1, 0.286, 25.077),
    "prenorm": (1.839, 7.508e-1, 7.454e-1, 1.007, 0.459, 1.421),
    "postnorm": (1.601, 6.411e-2, 3.328e-2, 1.926, 0.775, 0.777),
}


@pytest.mark.parametrize("mode", TABLE)
def test_the_table_of_modes(mode: str) -> None:
    net: Any = mode if mode != "postnorm" else reference.seeded(reference.ConvStackPostNorm)
    for got, printed in zip(line(net), TABLE[mode], strict=True):
        # A printed 0.072 stands for 0.0715 to 0.0725.
        assert near(got, printed, PLAIN if mode == "plain" else PRINTED) or abs(got - printed) <= 5e-4


@pytest.mark.parametrize(
    ("depth", "printed"),
    [(4, 1.47e-1), (8, 3.05e-3), (12, 2.46e-5), (16, 8.17e-7), (20, 2.16e-8), (28, 2.02e-12)],
)
def test_the_sweep_of_plain(depth: int, printed: float) -> None:
    assert near(ratio("plain", depth=depth), printed, PLAIN)


@pytest.mark.parametrize("depth", [4, 8, 12, 16, 20, 28])
def test_the_sweep_of_prenorm(depth: int) -> None:
    assert 0.985 <= ratio("prenorm", depth=depth) <= 1.105


def test_every_depth_tried_breaks_earlier_than_the_grid() -> None:
    depths = list(range(4, 14))
    ratios = [ratio("plain", depth=depth) for depth in depths]
    assert reference.break_depth(depths, ratios) == 9
    assert reference.break_depth([4, 8, 12], [ratios[0], ratios[4], ratios[8]]) == 12


@pytest.mark.parametrize(
    ("where", "k", "printed"),
    [
        ("end", 0, 1.007),
        ("end", 5, 0.144),
        ("end", 10, 1.97e-3),
        ("end", 15, 5.15e-6),
        ("end", 20, 2.155e-8),
        ("start", 5, 0.407),
        ("start", 10, 3.81e-2),
        ("start", 15, 7.28e-5),
        ("start", 20, 2.155e-8),
    ],
)
def test_the_removed_skips(where: str, k: int, printed: float) -> None:
    blocks = range(20 - k, 20) if where == "end" else range(k)
    net = reference.seeded(lambda: reference.ConvStackPartial(without_skip=blocks))
    assert near(ratio(net), printed, 5e-3)


@pytest.mark.parametrize("seed", range(3))
def test_removing_the_last_skips_is_worse(seed: int) -> None:
    for k in (10, 15):
        end, start = (
            ratio(reference.seeded(lambda b=blocks: reference.ConvStackPartial(b), seed))  # type: ignore[misc]
            for blocks in (range(20 - k, 20), range(k))
        )
        assert end < start / 3


def test_the_controls() -> None:
    corners = {
        corner: line(reference.seeded(lambda c=corner: reference.ConvStackControl(*c)))  # type: ignore[misc]
        for corner in ((False, False), (False, True), (True, False), (True, True))
    }
    assert near(corners[False, True][3], 23.6, 2e-3)
    assert near(corners[True, False][3], 0.70, 5e-3)
    assert near(corners[True, False][0], 2.73)
    assert near(corners[False, False][3], 2.155e-8, PLAIN)
    assert near(corners[True, True][3], 1.007)


@pytest.mark.parametrize("mode", ["plain", "naive", "prenorm"])
def test_the_parameters(mode: str) -> None:
    net = reference.ConvStack(mode=mode)
    logits = net(torch.randn(2, 3, 8, 8))
    logits.sum().backward()
    declared = sum(one.numel() for one in net.parameters())
    used = sum(one.numel() for one in net.parameters() if one.grad is not None)
    assert reference.parameter_count(mode) == (declared, used)
    assert declared == 47_573
    assert used == (47_573 if mode == "prenorm" else 46_933)


def test_the_gap_of_three_seeds() -> None:
    gap, noise, times = reference.gap_statistics([0.431, 0.389, 0.200], [0.584, 0.651, 0.624])
    assert (round(gap, 3), round(noise, 3), round(times, 1)) == (0.280, 0.104, 2.7)


def test_the_ranges_over_seeds() -> None:
    for seed in (3, 7):
        norms, trace, loss = reference.measure_gradient("naive", seed=seed)
        assert 0.03 < norms[0] / norms[-1] < 0.9
        assert loss > 4
        assert trace[-1] / trace[0] > 30
        assert ratio("plain", seed=seed) < 1e-6
        assert 0.8 < ratio("prenorm", seed=seed) < 1.25
        assert 0.7 < ratio(reference.seeded(reference.ConvStackPostNorm, seed)) < 4


def test_verdicts_need_all_three_conditions() -> None:
    measured = {mode: reference.measure_gradient(mode) for mode in reference.ConvStack.MODES}
    assert {mode: reference.healthy(norms, trace) for mode, (norms, trace, _) in measured.items()} == {
        "plain": False,
        "naive": False,
        "prenorm": True,
    }
    flat = [1e-8] * 20
    assert not reference.healthy(flat, [1.0] * 20)
    assert not reference.healthy([1.0] * 20, [1.0, 20.0])
    assert not reference.healthy([1e-3, 10.0], [1.0, 1.0])
    assert reference.healthy([0.02, 1.0], [1.0, 9.0])


# ---- the same with other numbers of threads ----


@pytest.mark.parametrize("mode", ["plain", "naive", "prenorm"])
def test_measures_use_one_thread_whatever_is_set(mode: str) -> None:
    before = torch.get_num_threads()
    measured = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            measured.append(reference.measure_gradient(mode))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert measured[0] == measured[1]


# ---- the oracle against torch's modules ----

STACKS: dict[str, Any] = {
    "plain": lambda **kw: reference.ConvStack(mode="plain", **kw),
    "naive": lambda **kw: reference.ConvStack(mode="naive", **kw),
    "prenorm": lambda **kw: reference.ConvStack(mode="prenorm", **kw),
    "postnorm": reference.ConvStackPostNorm,
    "norm without skip": lambda **kw: reference.ConvStackControl(False, True, **kw),
    "skip without norm": lambda **kw: reference.ConvStackControl(True, False, **kw),
}


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("rule", STACKS)
@settings(max_examples=5, deadline=None)
@given(
    depth=st.integers(1, 4),
    channels=st.sampled_from([2, 4, 5]),
    stride=st.integers(1, 3),
    seed=st.integers(0, 999),
)
def test_the_oracle_agrees_with_the_modules(
    rule: str, training: bool, depth: int, channels: int, stride: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    state = reference.random_state(rng, depth, channels, gain=1.7)
    x, y = reference.random_batch(rng, 4, 7, 6)
    net = STACKS[rule](depth=depth, channels=channels, stem_stride=stride).double()
    net.load_state_dict({name: torch.tensor(value) for name, value in state.items()}, strict=False)
    net.train(training)
    trace: list[float] = []
    logits = net(torch.tensor(x, dtype=torch.float64), trace)
    F.cross_entropy(logits, torch.tensor(y)).backward()  # type: ignore[no-untyped-call]
    measured = reference.measure_state(state, [rule] * depth, x, y, stride, training)
    np.testing.assert_allclose(measured.logits, logits.detach().numpy(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(measured.trace, trace, rtol=1e-9)
    for name, parameter in net.named_parameters():
        expected = np.zeros(parameter.shape) if parameter.grad is None else parameter.grad.numpy()
        np.testing.assert_allclose(measured.gradients[name], expected, rtol=1e-7, atol=1e-12)


def test_a_ratio_does_not_change_the_stack() -> None:
    net = reference.seeded(lambda: reference.ConvStack(depth=3, channels=4, mode="prenorm"))
    before = [one.detach().clone() for one in net.parameters()]
    x, y = torch.randn(4, 3, 8, 8), torch.tensor([0, 1, 2, 3])
    net.eval()
    first = reference.gradient_ratio(net, x, y)
    assert reference.gradient_ratio(net, x, y) == pytest.approx(first, rel=1e-5)
    assert not net.training
    assert all(torch.equal(one, other) for one, other in zip(before, net.parameters(), strict=True))


def test_a_residual_block_is_the_identity_without_its_second_convolution() -> None:
    torch.manual_seed(0)
    block = reference.ResidualConvBlock(3)
    x = torch.randn(2, 3, 4, 5)
    weights, biases = (
        [getattr(c, name).detach().numpy() for c in (block.conv1, block.conv2)] for name in ("weight", "bias")
    )
    np.testing.assert_allclose(
        reference.residual_block(x.numpy(), weights, biases), block(x).detach().numpy(), atol=1e-5
    )
    torch.nn.init.zeros_(block.conv2.weight)
    assert torch.equal(block(x), x)


# ---- lists of depths ----

PAIRS = st.lists(
    st.tuples(st.integers(1, 60), st.floats(0, 2)), min_size=1, max_size=8, unique_by=lambda one: one[0]
)


@given(PAIRS, st.floats(1e-6, 1))
def test_no_smaller_depth_breaks(pairs: list[tuple[int, float]], threshold: float) -> None:
    found = reference.break_depth([d for d, _ in pairs], [r for _, r in pairs], threshold)
    below = {d for d, r in pairs if r < threshold}
    assert found in below if below else found is None
    assert all(found is not None and found <= d for d in below)


@given(PAIRS, st.floats(0.01, 1))
def test_a_lead_of_zero_separates_nothing(pairs: list[tuple[int, float]], margin: float) -> None:
    depths, values = [d for d, _ in pairs], [v for _, v in pairs]
    assert reference.separation_depth(depths, values, values, margin) is None
    assert reference.separation_depth(depths, values, [v + margin + 1e-6 for v in values], margin) == min(
        depths
    )


# ---- the images ----


def test_the_bytes_of_the_images() -> None:
    data = b"".join(one.tobytes() for one in texture_sets())
    assert (
        hashlib.sha256(data).hexdigest() == "c5d5cb613954ced5b23f84d18b236a830bb1c868d57f2083b53bb88b0c62f468"
    )


def test_the_notebook_makes_the_same_images() -> None:
    names: dict[str, Any] = {"np": np, "torch": torch, "os": __import__("os")}
    exec(_given("train_data"), names)
    for got, right in zip(names["images"], texture_sets(), strict=True):
        np.testing.assert_array_equal(got, right)
    assert names["TEXTURES"] == CLASSES
    assert names["X_train"].shape == (2500, 3, 32, 32)
    assert names["X_train"].mean().abs() < 1e-4


def test_the_notebook_measures_the_same() -> None:
    names: dict[str, Any] = {"torch": torch, "nn": torch.nn, "F": F}
    exec(_given("stack"), names)
    exec(_given("measure"), names)
    with reference.one_thread():
        for mode in reference.ConvStack.MODES:
            assert names["measure_gradient"](mode, depth=4) == reference.measure_gradient(mode, depth=4)


def test_a_linear_classifier_learns_little() -> None:
    x, y, x_test, y_test = texture_sets()
    flat, flat_test = (one.reshape(len(one), -1) / 255.0 - 0.5 for one in (x, x_test))
    onto = np.eye(5)[y] - 0.2
    gram = flat @ flat.T + 300.0 * np.eye(len(flat))
    weights = flat.T @ np.linalg.solve(gram, onto)
    assert 0.2 < np.mean((flat_test @ weights).argmax(1) == y_test) < 0.32


def test_the_images_are_balanced_and_have_no_colour_of_their_own() -> None:
    x, y = make_textures(100, 3)
    assert x.dtype == y.dtype == np.uint8
    assert np.bincount(y).tolist() == [100] * 5
    means = np.array([x[y == label].mean(axis=(0, 1, 2)) for label in range(5)])
    assert np.abs(means - means.mean(0)).max() < 12


def _given(grade_id: str) -> str:
    cells = json.loads((ROOT / "source/ps3-depth/depth.ipynb").read_text())["cells"]
    found = [cell for cell in cells if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id]
    return "".join(found[0]["source"])

"""Stacks of convolutions, with and without skips and norms: what depth does to gradients.

Two kinds of things: the modules that the notebook gives or asks for (their random streams matter,
since printed values come from seeds), and a functional oracle, `measure_state`, that computes what
any of them should give from its weights alone, in float64 and without one line of the modules.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

Array = np.ndarray[Any, Any]
State = dict[str, Array]
#: One block: (h, convolution, norm) -> h.
Rule = Callable[[Tensor, Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]], Tensor]

RULES: dict[str, Rule] = {
    "plain": lambda h, conv, norm: F.relu(conv(h)),
    "naive": lambda h, conv, norm: h + F.relu(conv(h)),
    "prenorm": lambda h, conv, norm: h + conv(F.relu(norm(h))),
    "postnorm": lambda h, conv, norm: norm(h + F.relu(conv(h))),
    "norm without skip": lambda h, conv, norm: F.relu(norm(conv(h))),
    "skip without norm": lambda h, conv, norm: h + conv(F.relu(h)),
}


class ConvStack(nn.Module):
    """Stem, `depth` blocks on `channels` maps, global mean, linear head. ValueError on an unknown mode.

    Norms are made in every mode, used or not, so that all modes draw the same weights from a seed.
    """

    MODES = ("plain", "naive", "prenorm")

    def __init__(
        self,
        depth: int = 20,
        channels: int = 16,
        n_classes: int = 5,
        mode: str = "plain",
        stem_stride: int = 1,
    ) -> None:
        super().__init__()
        if mode not in self.MODES:
            raise ValueError(f"unknown mode {mode!r}; the modes are {self.MODES}")
        self.mode = mode
        self.stem = nn.Conv2d(3, channels, 3, stride=stem_stride, padding=1)
        self.convs = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(depth))
        self.norms = nn.ModuleList(nn.BatchNorm2d(channels) for _ in range(depth))
        self.act = nn.ReLU()
        self.head = nn.Linear(channels, n_classes)

    def block(self, i: int, h: Tensor) -> Tensor:
        rule = self.mode if self.mode in ("plain", "naive") else "prenorm"  # the notebook's last branch
        return RULES[rule](h, self.convs[i], self.norms[i])

    def forward(self, x: Tensor, trace: list[float] | None = None) -> Tensor:
        """x: (batch, 3, height, width); logits: (batch, n_classes); `trace` gets mean |h| a block."""
        h = self.act(self.stem(x))
        for i in range(len(self.convs)):
            h = self.block(i, h)
            if trace is not None:
                trace.append(h.abs().mean().item())
        logits: Tensor = self.head(h.mean(dim=(2, 3)))
        return logits


class ConvStackPostNorm(ConvStack):
    """norm(h + act(conv(h)))."""

    def __init__(self, **kw: Any) -> None:
        super().__init__(mode="prenorm", **kw)

    def block(self, i: int, h: Tensor) -> Tensor:
        return RULES["postnorm"](h, self.convs[i], self.norms[i])


class ConvStackPartial(ConvStack):
    """Pre-norm, but act(conv(h)) in the blocks `without_skip` (numbered from 0)."""

    def __init__(self, without_skip: Iterable[int] = (), **kw: Any) -> None:
        super().__init__(mode="prenorm", **kw)
        self.without_skip = frozenset(without_skip)

    def block(self, i: int, h: Tensor) -> Tensor:
        rule = RULES["plain" if i in self.without_skip else "prenorm"]
        return rule(h, self.convs[i], self.norms[i])


class ConvStackControl(ConvStack):
    """The 2x2 control: skip yes or no, norm yes or no."""

    def __init__(self, skip: bool, norm: bool, **kw: Any) -> None:
        super().__init__(mode="prenorm", **kw)
        self.rule = control_rule(skip, norm)

    def block(self, i: int, h: Tensor) -> Tensor:
        return RULES[self.rule](h, self.convs[i], self.norms[i])


class ResidualConvBlock(nn.Module):
    """x + conv2(relu(conv1(x))), 3x3, padding 1, He weights (fan-in), biases at zero."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        for conv in (self.conv1, self.conv2):
            nn.init.kaiming_normal_(conv.weight, nonlinearity="relu")
            nn.init.zeros_(conv.bias)  # type: ignore[arg-type]

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = x + self.conv2(F.relu(self.conv1(x)))
        return out


def control_rule(skip: bool, norm: bool) -> str:
    """The name of a control's rule in `RULES`."""
    if skip:
        return "prenorm" if norm else "skip without norm"
    return "norm without skip" if norm else "plain"


def measure_gradient(
    mode: str | nn.Module = "plain", depth: int = 20, seed: int = 0, data_seed: int = 123, batch: int = 32
) -> tuple[list[float], list[float], float]:
    """Weight-gradient norms of the blocks, mean |h| after each block, and the loss, at the first step.

    With a module instead of a mode, `depth` and `seed` are not used.
    """
    with one_thread():
        if isinstance(mode, str):
            torch.manual_seed(seed)
            net: nn.Module = ConvStack(depth=depth, mode=mode)
        else:
            net = mode
        torch.manual_seed(data_seed)
        x, y = torch.randn(batch, 3, 32, 32), torch.randint(0, 5, (batch,))
        net.train()
        net.zero_grad()
        trace: list[float] = []
        loss = F.cross_entropy(net(x, trace), y)
        loss.backward()  # type: ignore[no-untyped-call]
        norms = [float(conv.weight.grad.norm()) for conv in net.convs]  # type: ignore[union-attr]
        return norms, trace, float(loss.detach())


def seeded(make: Callable[[], nn.Module], seed: int = 0) -> nn.Module:
    """A module whose weights are drawn right after `torch.manual_seed(seed)`."""
    torch.manual_seed(seed)
    return make()


def gradient_ratio(net: nn.Module, x: Tensor, y: Tensor) -> float:
    """Norm of the first block's weight gradient over the last one's, measured in training mode."""
    was_training = net.training
    net.train()
    net.zero_grad()
    F.cross_entropy(net(x), y).backward()  # type: ignore[no-untyped-call]
    first, last = (net.convs[i].weight.grad.norm() for i in (0, -1))  # type: ignore[index,union-attr]
    net.train(was_training)
    return float(first / last)


def break_depth(depths: Sequence[int], ratios: Sequence[float], threshold: float = 1e-3) -> int | None:
    """The smallest depth whose ratio lies strictly below `threshold`, None when none does."""
    below = [int(depth) for depth, ratio in zip(depths, ratios, strict=True) if ratio < threshold]
    return min(below, default=None)


def separation_depth(
    depths: Sequence[int], plain: Sequence[float], prenorm: Sequence[float], margin: float = 0.10
) -> int | None:
    """The smallest depth at which pre-norm leads by `margin` or more, None when it never does."""
    ahead = [int(d) for d, one, other in zip(depths, plain, prenorm, strict=True) if other - one >= margin]
    return min(ahead, default=None)


def gap_statistics(plain: Sequence[float], prenorm: Sequence[float]) -> tuple[float, float, float]:
    """Gap of the means, seed noise sqrt(s1^2 + s2^2) with population deviations, and their ratio."""
    first, second = np.asarray(plain, dtype=np.float64), np.asarray(prenorm, dtype=np.float64)
    gap = float(second.mean() - first.mean())
    noise = float(np.sqrt(first.var() + second.var()))
    return gap, noise, gap / noise


def parameter_count(mode: str, depth: int = 20, channels: int = 16, n_classes: int = 5) -> tuple[int, int]:
    """Parameters declared by `ConvStack(mode=mode)`, and those that its forward pass uses, by arithmetic."""
    if mode not in ConvStack.MODES:
        raise ValueError(f"unknown mode {mode!r}")
    stem = 3 * 9 * channels + channels
    convs = depth * (channels * 9 * channels + channels)
    norms = depth * 2 * channels
    head = channels * n_classes + n_classes
    declared = stem + convs + norms + head
    return declared, declared if mode == "prenorm" else declared - norms


def healthy(gradient_norms: Sequence[float], activations: Sequence[float]) -> bool:
    """Gradient ratio within [1e-2, 1e2], no gradient below 1e-6, activations ratio within [1e-1, 1e1]."""
    ratio = gradient_norms[0] / gradient_norms[-1]
    growth = activations[-1] / activations[0]
    return 1e-2 <= ratio <= 1e2 and min(gradient_norms) >= 1e-6 and 1e-1 <= growth <= 1e1


@dataclass(frozen=True)
class Measured:
    """What a stack gives: logits (batch, classes), the trace, the loss, and every parameter's gradient."""

    logits: Array
    trace: list[float]
    loss: float
    gradients: State

    @property
    def gradient_norms(self) -> list[float]:
        """Of the blocks' convolution weights, in order."""
        depth = sum(name.startswith("convs.") and name.endswith(".weight") for name in self.gradients)
        return [float(np.linalg.norm(self.gradients[f"convs.{i}.weight"])) for i in range(depth)]


def random_state(
    rng: np.random.Generator, depth: int, channels: int, n_classes: int = 5, gain: float = 1.0
) -> State:
    """Weights of a stack by the names of `ConvStack`, float32, uniform as torch draws them times `gain`.

    Norms get scales, shifts and running statistics away from their defaults, so that they show.
    """

    def uniform(fan_in: int, *shape: int) -> Array:
        bound = gain / np.sqrt(fan_in)
        return rng.uniform(-bound, bound, shape).astype(np.float32)

    state: State = {
        "stem.weight": uniform(27, channels, 3, 3, 3),
        "stem.bias": uniform(27, channels),
        "head.weight": uniform(channels, n_classes, channels),
        "head.bias": uniform(channels, n_classes),
    }
    for i in range(depth):
        state[f"convs.{i}.weight"] = uniform(9 * channels, channels, channels, 3, 3)
        state[f"convs.{i}.bias"] = uniform(9 * channels, channels)
        state[f"norms.{i}.weight"] = rng.uniform(0.6, 1.4, channels).astype(np.float32)
        state[f"norms.{i}.bias"] = rng.uniform(-0.3, 0.3, channels).astype(np.float32)
        state[f"norms.{i}.running_mean"] = rng.uniform(-0.5, 0.5, channels).astype(np.float32)
        state[f"norms.{i}.running_var"] = rng.uniform(0.3, 2.0, channels).astype(np.float32)
    return state


def measure_state(
    state: State, rules: Sequence[str], x: Array, y: Array, stride: int = 1, training: bool = True
) -> Measured:
    """What a stack with these weights and one rule of `RULES` a block gives, in float64.

    x: (batch, 3, height, width); y: (batch,). In training a norm uses the batch's statistics, else
    the running ones. Gradients are of the mean cross-entropy; those of unused parameters are zero.
    """
    with one_thread():
        weights = {
            name: torch.tensor(value, dtype=torch.float64, requires_grad="running" not in name)
            for name, value in state.items()
        }
        h = F.relu(
            F.conv2d(_double(x), weights["stem.weight"], weights["stem.bias"], stride=stride, padding=1)
        )
        trace: list[float] = []
        for i, rule in enumerate(rules):
            h = RULES[rule](h, _convolution(weights, i), _batch_norm(weights, i, training))
            trace.append(float(h.detach().abs().mean()))
        logits = h.mean(dim=(2, 3)) @ weights["head.weight"].T + weights["head.bias"]
        loss = F.cross_entropy(logits, torch.tensor(y, dtype=torch.int64))
        loss.backward()  # type: ignore[no-untyped-call]
        gradients = {
            name: (torch.zeros_like(weight) if weight.grad is None else weight.grad).numpy()
            for name, weight in weights.items()
            if weight.requires_grad
        }
        return Measured(logits.detach().numpy(), trace, float(loss.detach()), gradients)


def random_batch(
    rng: np.random.Generator, batch: int, height: int, width: int, n_classes: int = 5
) -> tuple[Array, Array]:
    """Images (batch, 3, height, width), float32 and not centred, and labels (batch,), int64."""
    x = (rng.standard_normal((batch, 3, height, width)) + 0.3).astype(np.float32)
    return x, rng.integers(0, n_classes, batch)


def partial_rules(depth: int, without_skip: Collection[int]) -> list[str]:
    """The rules of a pre-norm stack whose blocks `without_skip` are plain."""
    return ["plain" if i in without_skip else "prenorm" for i in range(depth)]


def residual_block(x: Array, weights: Sequence[Array], bias: Sequence[Array]) -> Array:
    """x + conv2(relu(conv1(x))), x: (batch, channels, height, width), in float64."""
    hidden = F.relu(F.conv2d(_double(x), _double(weights[0]), _double(bias[0]), padding=1))
    out: Array = (_double(x) + F.conv2d(hidden, _double(weights[1]), _double(bias[1]), padding=1)).numpy()
    return out


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, torch uses one thread: sums are then added in one order on every machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _double(values: Array) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def _convolution(weights: dict[str, Tensor], i: int) -> Callable[[Tensor], Tensor]:
    return lambda h: F.conv2d(h, weights[f"convs.{i}.weight"], weights[f"convs.{i}.bias"], padding=1)


def _batch_norm(
    weights: dict[str, Tensor], i: int, training: bool, eps: float = 1e-5
) -> Callable[[Tensor], Tensor]:
    def norm(h: Tensor) -> Tensor:
        if training:
            mean = h.mean(dim=(0, 2, 3))
            variance = ((h - _by_map(mean)) ** 2).mean(dim=(0, 2, 3))
        else:
            mean, variance = weights[f"norms.{i}.running_mean"], weights[f"norms.{i}.running_var"]
        scaled = (h - _by_map(mean)) / _by_map(torch.sqrt(variance + eps))
        return scaled * _by_map(weights[f"norms.{i}.weight"]) + _by_map(weights[f"norms.{i}.bias"])

    return norm


def _by_map(values: Tensor) -> Tensor:
    """One number a channel: (channels,) -> (1, channels, 1, 1)."""
    return values[None, :, None, None]

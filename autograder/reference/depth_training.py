"""What weights that a training leaves behind prove: the scores that they give, and how they got there."""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
import torch.nn.functional as F

from autograder.reference.depth import Array, ConvStack, State, one_thread
from autograder.reference.textures import texture_sets

BATCH, STEP, SHRINK = 64, 2e-3, 0.85


@cache
def texture_arrays() -> tuple[Array, Array, Array, Array]:
    """The embedded images as the notebook trains on them: X_train, y_train, X_test, y_test.

    Images (n, 3, 32, 32), float32, by the mean and the deviation of the training images. Made once.
    """
    images, labels, test_images, test_labels = texture_sets()
    with one_thread():
        train, test = (
            torch.from_numpy(one).permute(0, 3, 1, 2).float() / 255 for one in (images, test_images)
        )
        mean, deviation = train.mean(dim=(0, 2, 3), keepdim=True), train.std(dim=(0, 2, 3), keepdim=True)
        x, x_test = (((one - mean) / deviation).contiguous().numpy() for one in (train, test))
    return x, labels.astype(np.int64), x_test, test_labels.astype(np.int64)


def state_of(net: ConvStack) -> State:
    """Copies of the weights and of the norms' statistics, by name."""
    return {
        name: value.detach().numpy().copy()
        for name, value in net.state_dict().items()
        if not name.endswith("num_batches_tracked")
    }


def shapes(depth: int, channels: int = 16) -> dict[str, tuple[int, ...]]:
    """Of the entries of a `ConvStack`'s state."""
    with torch.device("meta"):
        net = ConvStack(depth=depth, channels=channels)
    return {
        name: tuple(value.shape)
        for name, value in net.state_dict().items()
        if not name.endswith("num_batches_tracked")
    }


def stack_with(state: State, mode: str, stride: int, dtype: torch.dtype = torch.float32) -> ConvStack:
    """The course's own stack, with these weights."""
    depth = sum(name.startswith("convs.") and name.endswith(".weight") for name in state)
    net = ConvStack(depth, len(state["stem.bias"]), len(state["head.bias"]), mode, stride).to(dtype)
    net.load_state_dict({name: torch.from_numpy(value) for name, value in state.items()}, strict=False)
    return net


def share_right(state: State, mode: str, stride: int, x: Array, y: Array) -> float:
    """The accuracy of a stack with these weights on x (n, 3, height, width), in float64."""
    with one_thread(), torch.no_grad():
        net = stack_with(state, mode, stride, torch.float64).eval()
        right = [
            net(torch.from_numpy(x[start : start + 200]).double()).argmax(dim=1).numpy()
            for start in range(0, len(x), 200)
        ]
        return float(np.mean(np.concatenate(right) == y))


def course(
    state: State, mode: str, stride: int, x: Array, y: Array, epochs: int = 1, seed: int = 0
) -> list[State]:
    """The weights after each epoch of the notebook's training from `state`, in an order of our own."""
    with one_thread():
        net = stack_with(state, mode, stride)
        order = torch.Generator().manual_seed(seed)
        optimizer = torch.optim.Adam(net.parameters(), lr=STEP)
        images, labels = torch.from_numpy(x), torch.from_numpy(y)
        net.train()
        found = []
        for epoch in range(epochs):
            optimizer.param_groups[0]["lr"] = STEP * SHRINK**epoch
            for batch in torch.split(torch.randperm(len(y), generator=order), BATCH):
                optimizer.zero_grad()
                F.cross_entropy(net(images[batch]), labels[batch]).backward()  # type: ignore[no-untyped-call]
                optimizer.step()
            found.append(state_of(net))
        return found


def same_way(start: State, one: State, other: State) -> tuple[float, float]:
    """Cosine of two moves of the convolutions' weights from `start`, and the ratio of their lengths.

    Measured for one to eight epochs of coloured noise: 0.83 to 0.96 for two orders of the same images, and
    lengths within 10 %; at most 0.43 when the labels of one were shuffled.
    """
    names = [name for name in start if name.startswith(("stem", "convs")) and name.endswith("weight")]
    first, second = (
        np.concatenate([(end[name].astype(np.float64) - start[name]).ravel() for name in names])
        for end in (one, other)
    )
    lengths = float(np.linalg.norm(first)), float(np.linalg.norm(second))
    if min(lengths) == 0:
        return 0.0, 0.0
    return float(first @ second) / (lengths[0] * lengths[1]), lengths[0] / lengths[1]

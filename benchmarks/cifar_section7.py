"""Plain against pre-norm at 20 blocks on real CIFAR-10: two modes, three seeds, fifteen epochs.

The images: the five classes of `DATA=cifar10` in ps3-depth, or an .npz file with uint8 arrays X_train
(n, 32, 32, 3), y_train, X_test and y_test. With 5 000 training and 1 000 test images, one thread and
torch 2.13 it measured

    plain    34.8 % +- 10.7   (44.8, 39.7, 20.0)
    prenorm  63.2 % +-  2.1   (63.4, 65.7, 60.6)

    python benchmarks/cifar_section7.py cifar5.npz
    python benchmarks/cifar_section7.py cifar5.npz --epochs 1 --seeds 0
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from autograder.reference.depth import ConvStack, gap_statistics

MODES = ("plain", "prenorm")
BATCH = 128
KEYS = ("X_train", "y_train", "X_test", "y_test")


def load(path: Path) -> list[torch.Tensor]:
    """X_train, y_train, X_test, y_test; images as (n, 3, 32, 32) in [-1, 1]. SystemExit on another file."""
    try:
        with np.load(path, allow_pickle=False) as data:
            arrays: list[Any] = [data[key] for key in KEYS]
    except (OSError, ValueError, KeyError) as error:
        raise SystemExit(f"{path}: not an .npz file with the arrays {', '.join(KEYS)} ({error})") from error
    x, y, x_test, y_test = (torch.from_numpy(array) for array in arrays)
    images = [(one.permute(0, 3, 1, 2).float() / 255 - 0.5) / 0.5 for one in (x, x_test)]
    return [images[0].contiguous(), y.long(), images[1].contiguous(), y_test.long()]


def train(
    mode: str, seed: int, epochs: int, data: list[torch.Tensor], progress: Progress, task: Any
) -> float:
    """The accuracy on the test images after the last epoch; one step of `task` a batch."""
    x, y, x_test, y_test = data
    torch.manual_seed(seed)
    net = ConvStack(depth=20, mode=mode, stem_stride=2)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(epochs):
        net.train()
        for batch in torch.randperm(len(y)).split(BATCH):
            optimizer.zero_grad()
            F.cross_entropy(net(x[batch]), y[batch]).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            progress.advance(task)
    net.eval()
    with torch.no_grad():
        right = torch.cat([net(part).argmax(dim=1) for part in x_test.split(500)]) == y_test
    return float(right.float().mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "images", type=Path, help="an .npz file with X_train, y_train, X_test, y_test (uint8)"
    )
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--threads", type=int, default=1)
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    console = Console()
    data = load(chosen.images)
    batches = chosen.epochs * -(-len(data[1]) // BATCH)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    found: dict[str, list[float]] = {mode: [] for mode in MODES}
    started = time.perf_counter()
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("training", total=batches * len(MODES) * len(chosen.seeds))
        for mode in MODES:
            for seed in chosen.seeds:
                progress.update(task, description=f"{mode}, seed {seed}")
                found[mode].append(train(mode, seed, chosen.epochs, data, progress, task))
    table = Table(
        "mode", "mean", "deviation", "seeds", title=f"{len(data[1])} images, {chosen.epochs} epochs"
    )
    for mode, values in found.items():
        accuracies = ", ".join(f"{100 * value:.1f}" for value in values)
        table.add_row(mode, f"{100 * np.mean(values):.1f} %", f"{100 * np.std(values):.1f}", accuracies)
    console.print(table)
    if len(chosen.seeds) > 1:
        gap, noise, times = gap_statistics(found["plain"], found["prenorm"])
        console.print(f"gap {100 * gap:.1f} points, noise {100 * noise:.1f}, ratio {times:.1f}")
    console.print(
        f"{time.perf_counter() - started:.0f} s, torch {torch.__version__}, {chosen.threads} thread(s)"
    )


if __name__ == "__main__":
    main()

"""What notebooks ask of a student's machine that this one lacks: a GPU, threads, windows, extensions.

Each request is met as well as it can be and a line says so, because an answer must not fail on
what only its author's machine has. Runs in the sandboxed process; nothing here is a verdict.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import torch
from IPython.core.interactiveshell import InteractiveShell


def stand_in(shell: InteractiveShell) -> None:
    """Replace the calls that would fail here by ones that go on without what is missing."""
    _one_thread()
    if not torch.cuda.is_available():
        _without_gpu()
    for owner in (matplotlib, plt):
        name = "use" if owner is matplotlib else "switch_backend"
        _or_go_on(owner, name, "Figures are drawn into the notebook: there is no window for them.")
    _or_go_on(shell.extension_manager, "load_extension", "It is not installed where notebooks are graded.")


def _one_thread() -> None:
    """A submission has one thread for computing, whatever it asks for; its limit of threads is low."""

    def ignored(_count: int) -> None: ...

    for name in ("set_num_threads", "set_num_interop_threads"):
        setattr(torch, name, functools.wraps(getattr(torch, name))(ignored))


def _without_gpu() -> None:
    """`torch.set_default_device("cuda")` stays with the processor."""
    real = torch.set_default_device

    @functools.wraps(real)
    def set_default_device(device: Any) -> None:
        wanted = "cpu" if device is None else str(device).partition(":")[0]
        if wanted in ("cpu", "meta"):
            return real(device)
        print(f"There is no '{wanted}' where notebooks are graded; tensors are made on the processor.")

    torch.set_default_device = set_default_device


def _or_go_on(owner: Any, name: str, words: str) -> None:
    """A call that imports what may be missing says so instead of raising."""
    real: Callable[..., Any] = getattr(owner, name)

    @functools.wraps(real)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return real(*args, **kwargs)
        except ImportError as error:
            print(f"{error}. {words}")

    setattr(owner, name, call)

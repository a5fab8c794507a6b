"""Name a misconception: only when the student's values equal one wrong answer's on every probe."""

from __future__ import annotations

import copy
import hashlib
import importlib
import math
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.exercises.catalogue import Exercise, Misconception
from autograder.sandbox.plain import plain
from autograder.sandbox.protocol import Unencodable


@dataclass(frozen=True)
class Probe:
    """A question that was put to the student's names, and the plain answer.

    `args` is None for a variable that was read; `raised` holds the built-in classes of an exception.
    `seconds`: how long the answer took, so that costly questions are compared last.
    """

    name: str
    args: tuple[Any, ...] | None
    kwargs: dict[str, Any]
    value: Any = None
    raised: tuple[str, ...] | None = None
    seconds: float = 0.0


#: What wrong answers gave on costly questions: a course asks every student the same.
Remembered = dict[tuple[str, str, bytes], "_Answer"]
_COSTLY_SECONDS = 0.05
_REMEMBERED_LIMIT = 5_000


@np.errstate(all="ignore")  # a wrong answer may overflow: that is no warning to the grader
def named(
    exercise: Exercise, probes: list[Probe], remembered: Remembered | None = None
) -> Misconception | None:
    """The one catalogued wrong answer that agrees on every probe; None for none or for two.

    `remembered` keeps what costly questions gave, for the next submission.
    """
    if not probes:
        return None
    remembered = {} if remembered is None else remembered
    with _one_thread(any("torch" in one.code for one in exercise.misconceptions)):
        given = _given(exercise)
        agreeing = [
            one for one in exercise.misconceptions if _agrees(exercise.name, one, probes, given, remembered)
        ]
    return agreeing[0] if len(agreeing) == 1 else None


@contextmanager
def _one_thread(torch_is_used: bool) -> Iterator[None]:
    """As in the sandbox: the same rounding, and no fight of two workers for the processor's cores."""
    if not torch_is_used:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _given(exercise: Exercise) -> dict[str, Any]:
    """What stands for the notebook's given code when a wrong answer is run here."""
    if exercise.given is None:
        return {}
    module = importlib.import_module(f"autograder.reference.{exercise.given}")
    return {name: getattr(module, name) for name in module.__all__}


def _agrees(
    exercise: str,
    misconception: Misconception,
    probes: list[Probe],
    given: dict[str, Any],
    remembered: Remembered,
) -> bool:
    names: dict[str, Any] = {"np": np, "math": math, **given}
    if "torch" in misconception.code:
        import torch

        names["torch"] = torch
    try:
        exec(compile(misconception.code, f"<{misconception.name}>", "exec"), names)
    except Exception:
        return False
    for probe in probes:
        if probe.seconds < _COSTLY_SECONDS:
            answer = _answer(names, probe)
        else:
            key = (exercise, misconception.name, _digest(probe))
            answer = remembered.get(key) or _answer(names, probe)
            if len(remembered) < _REMEMBERED_LIMIT:
                remembered[key] = answer
        if not answer.agrees(probe):
            return False
    return True


@dataclass(frozen=True)
class _Answer:
    """What a wrong answer gave: a value, or the classes of an exception; none when it has no such name."""

    value: Any = None
    kinds: frozenset[str] = frozenset()
    none: bool = False

    def agrees(self, probe: Probe) -> bool:
        if self.none:
            return False
        if self.kinds:
            return probe.raised is not None and probe.raised[:1] != () and probe.raised[0] in self.kinds
        return probe.raised is None and _equal(self.value, probe.value)


def _answer(names: dict[str, Any], probe: Probe) -> _Answer:
    try:
        if not probe.name:
            return _driven(names, probe)
        if probe.name not in names:
            return _Answer(none=True)
        if probe.args is None:
            return _Answer(names[probe.name])
        return _Answer(names[probe.name](*copy.deepcopy(probe.args), **copy.deepcopy(probe.kwargs)))
    except Exception as error:
        return _Answer(kinds=frozenset(kind.__name__ for kind in type(error).__mro__))


def _driven(names: dict[str, Any], probe: Probe) -> _Answer:
    """What a suite's own lines leave in `answer` among the wrong answer's names."""
    among = {**names, **copy.deepcopy(probe.kwargs)}
    exec(compile((probe.args or ("",))[0], "<the course's check>", "exec"), among)
    try:
        return _Answer(plain(among.get("answer")))
    except Unencodable:
        return _Answer(none=True)


def _digest(probe: Probe) -> bytes:
    """Of a question of our own making: never of what a student sent."""
    return hashlib.sha256(pickle.dumps((probe.name, probe.args, probe.kwargs))).digest()


def _equal(wrong: Any, got: Any, scale: float | None = None) -> bool:
    """Whether two answers are the same: counts exactly, other numbers up to rounding, NaN included.

    `scale`: the largest entry of the whole answer's arrays. What is zero but for the rounding of
    float32 (the gradient of a bias before a norm) is compared with it, not with itself.
    """
    if scale is None:
        scale = _scale(got)
    if hasattr(wrong, "detach"):
        wrong = wrong.detach().numpy()[()]
    if isinstance(wrong, dict) or isinstance(got, dict):
        return (
            isinstance(wrong, dict)
            and isinstance(got, dict)
            and wrong.keys() == got.keys()
            and all(_equal(one, got[key], scale) for key, one in wrong.items() if not _is_evidence(key))
        )
    if wrong is None or isinstance(wrong, bool | str) or got is None or isinstance(got, bool | str):
        return type(wrong) is type(got) and bool(wrong == got)
    if isinstance(got, np.ndarray) and _sides(np.shape(got)) != _shape_of(wrong):
        return False  # before a large answer of small entries is made one of float64
    try:
        left = np.squeeze(np.asarray(wrong, dtype=np.float64))
        right = np.squeeze(np.asarray(got, dtype=np.float64))
    except (TypeError, ValueError, OverflowError, RuntimeError):  # the last one: tensors with a gradient
        if isinstance(wrong, list | tuple) and isinstance(got, list | tuple) and len(wrong) == len(got):
            return all(_equal(one, other, scale) for one, other in zip(wrong, got, strict=True))
        return False
    rtol = 0.0 if isinstance(wrong, int | np.integer) else 1e-3
    atol = max(1e-9, 3e-7 * scale) if isinstance(got, np.ndarray) and got.size > 1 else 1e-9
    return left.shape == right.shape and bool(np.allclose(left, right, rtol=rtol, atol=atol, equal_nan=True))


def _is_evidence(key: Any) -> bool:
    """Whether a suite asks for it as evidence only: a training's weights are never the same twice."""
    return isinstance(key, str) and key.startswith("_")


def _shape_of(wrong: Any) -> tuple[int, ...]:
    try:
        return _sides(np.shape(wrong))
    except ValueError:
        return (-1,)


def _sides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without its sides of one, as `squeeze` leaves it."""
    return tuple(side for side in shape if side != 1)


def _scale(got: Any) -> float:
    """The largest finite absolute entry of an answer's arrays of numbers; 0 without any."""
    if isinstance(got, dict):
        return max(map(_scale, got.values()), default=0.0)
    if isinstance(got, list | tuple):
        return max(map(_scale, got), default=0.0)
    if isinstance(got, np.ndarray) and got.dtype.kind == "f" and got.size > 1:
        return float(np.max(np.abs(got), where=np.isfinite(got), initial=0.0))
    return 0.0

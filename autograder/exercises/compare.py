"""What counts as the same answer. Every function either returns or raises `WrongAnswer`.

The texts are read by students and the inputs may be hidden, so no message carries a value,
an expected result or a size: only what kind of thing was wrong.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from autograder.results import Stage

#: The most demanding right float32 answer needs 4.6e-5; the nearest wrong one differs by 3.5e-2.
RTOL = 1e-3
#: Below this, a difference is rounding of sums whose terms are of order one.
ATOL = 1e-6


class WrongAnswer(Exception):
    """The student's answer is not the right one; the text is for the student."""

    def __init__(self, stage: Stage, message: str) -> None:
        super().__init__(message)
        self.stage = stage


class Opaque:
    """Stands for a returned object that does not cross the boundary; keeps its type's name."""

    __slots__ = ("type_name",)

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def __repr__(self) -> str:
        return f"<an object of type {self.type_name}>"


def exact(got: object, expected: int) -> None:
    """Accept exactly this integer, written as an int, a whole float or a one-element array.

    Sizes and counts are exact after conversion: a tolerance would accept 3 692 640 +- 36.
    Raises `WrongAnswer`.
    """
    value = _number(got)
    if value != expected:
        raise WrongAnswer(Stage.VALUE, "The number is not the right one.")


def close(got: object, expected: Any, rtol: float = RTOL, atol: float = ATOL) -> None:
    """Accept an array, list or number with the expected shape (after `squeeze`) and values.

    `expected`: scalar or array of any shape. A difference of `atol + rtol * abs(expected)` is
    allowed, element by element. Non-finite entries are refused where the reference is finite.
    Raises `WrongAnswer`.
    """
    right = np.squeeze(np.asarray(expected, dtype=np.float64))
    value = np.squeeze(_array(got))  # as it came: a large one of small entries is eight times that as float64
    if value.ndim != right.ndim:
        raise WrongAnswer(
            Stage.SHAPE, f"The result has the wrong number of dimensions; {_dims(right.ndim)} expected."
        )
    if value.shape != right.shape:
        raise WrongAnswer(Stage.SHAPE, "The result has the right number of dimensions but wrong sizes.")
    value = value.astype(np.float64)
    finite = np.isfinite(right)
    # Picking entries copies them, and large arrays are finite as a rule.
    given, wanted = (value, right) if finite.all() else (value[finite], right[finite])
    if not np.all(np.isfinite(given)):
        raise WrongAnswer(Stage.FINITE, "The result contains NaN or infinite values.")
    if given is not value and not np.array_equal(value[~finite], right[~finite]):
        raise WrongAnswer(Stage.VALUE, "The values are not the right ones.")
    if not np.all(np.abs(given - wanted) <= atol + rtol * np.abs(wanted)):
        raise WrongAnswer(Stage.VALUE, "The values are not the right ones.")


def same(got: object, expected: bool | str | None) -> None:
    """Accept exactly this bool, word (without case and outer spaces) or None.

    None, -1 and False are different answers. Raises `WrongAnswer`.
    """
    if expected is None:
        if got is not None:
            raise WrongAnswer(Stage.VALUE, "The answer should be None here.")
        return
    value = got
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape(()).item()
    if isinstance(expected, bool):
        if not isinstance(value, bool):
            raise WrongAnswer(Stage.TYPE, "The answer should be True or False.")
        if value is not expected:
            raise WrongAnswer(Stage.VALUE, "The answer is not the right one.")
        return
    if not isinstance(value, str):
        raise WrongAnswer(Stage.TYPE, "The answer should be a word, as a string.")
    if value[:1000].strip().casefold() != expected.casefold():
        raise WrongAnswer(Stage.VALUE, "The word is not the right one.")


def items(got: object, expected: int) -> list[Any]:
    """The `expected` entries of a returned list, tuple or array, in order. Raises `WrongAnswer`."""
    if not isinstance(got, list | tuple) and not (isinstance(got, np.ndarray) and got.ndim >= 1):
        raise WrongAnswer(Stage.TYPE, f"The result should be a tuple of {expected} values.")
    if len(got) != expected:
        raise WrongAnswer(Stage.SHAPE, f"The result should be a tuple of {expected} values.")
    return list(got)


def entries(got: object, keys: list[str]) -> dict[str, Any]:
    """The values of a returned dict that has at least these keys. Raises `WrongAnswer`."""
    if not isinstance(got, dict):
        raise WrongAnswer(Stage.TYPE, f"The answer should be a dict with the keys {', '.join(keys)}.")
    missing = [key for key in keys if key not in got]
    if missing:
        raise WrongAnswer(Stage.SHAPE, f"The dict lacks the keys {', '.join(missing)}.")
    return {key: got[key] for key in keys}


def _number(got: object) -> int | float:
    value: object = got
    while isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape(()).item()
    if isinstance(value, bool) or not isinstance(value, Real):
        raise WrongAnswer(Stage.TYPE, f"The result should be a number, not {_kind(got)}.")
    if isinstance(value, int):
        return value
    number = float(value)
    if not math.isfinite(number):
        raise WrongAnswer(Stage.FINITE, "The result is NaN or infinite.")
    return number


def _array(got: object) -> np.ndarray[Any, Any]:
    if got is None or isinstance(got, str | bool | dict | Opaque):
        raise WrongAnswer(Stage.TYPE, f"The result should be a number or an array, not {_kind(got)}.")
    try:
        raw = np.asarray(got)
    except (ValueError, TypeError, OverflowError):
        raise WrongAnswer(Stage.SHAPE, "The rows of the result do not all have the same length.") from None
    if raw.dtype.kind not in "iuf":
        raise WrongAnswer(Stage.TYPE, "The result should hold numbers only.")
    return raw


def _kind(got: object) -> str:
    """A word for what was returned, from a closed list: a class's own name could carry a hidden input."""
    if got is None:
        return "None (is a return missing?)"
    for kind, word in (
        (bool, "a bool"),
        (str, "a string"),
        (dict, "a dict"),
        (list | tuple, "a list"),
        (np.ndarray, "an array"),
    ):
        if isinstance(got, kind):
            return word
    return "an object of another type"


def _dims(count: int) -> str:
    return "a single number is" if count == 0 else f"{count} dimension{'s are' if count > 1 else ' is'}"

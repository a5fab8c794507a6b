"""What a student may return, as plain data; what a hostile class does, it does to its own answer."""

from __future__ import annotations

import decimal
import enum
import fractions
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

from autograder.sandbox.plain import plain
from autograder.sandbox.protocol import Unencodable, pack

Pair = namedtuple("Pair", ["left", "right"])


class Colour(enum.IntEnum):
    RED = 3


class Labelled(str):
    __slots__ = ()


ROWS = [[1.0, 2.0], [3.0, 4.5]]


def _inference() -> torch.Tensor:
    with torch.inference_mode():
        return torch.tensor(ROWS) * 1


ARRAYS: dict[str, tuple[Callable[[], Any], str]] = {
    "float32": (lambda: torch.tensor(ROWS), "float32"),
    "float64": (lambda: torch.tensor(ROWS, dtype=torch.float64), "float64"),
    "float16": (lambda: torch.tensor(ROWS, dtype=torch.float16), "float16"),
    "bfloat16": (lambda: torch.tensor(ROWS, dtype=torch.bfloat16), "float32"),
    "gradient": (lambda: torch.tensor(ROWS, requires_grad=True), "float32"),
    "inside_a_graph": (lambda: torch.tensor(ROWS, requires_grad=True) * 1, "float32"),
    "parameter": (lambda: torch.nn.Parameter(torch.tensor(ROWS)), "float32"),
    "sparse": (lambda: torch.tensor(ROWS).to_sparse(), "float32"),
    "transposed": (lambda: torch.tensor(ROWS).T.contiguous().T, "float32"),
    "expanded": (lambda: torch.tensor(ROWS)[None].expand(1, 2, 2)[0], "float32"),
    "negative_view": (
        lambda: torch.imag(torch.conj(torch.complex(torch.zeros(2, 2), -torch.tensor(ROWS)))),
        "float32",
    ),
    "inference": (_inference, "float32"),
    "array": (lambda: np.array(ROWS), "float64"),
    "big_endian": (lambda: np.array(ROWS, dtype=">f8"), "float64"),
    "fortran": (lambda: np.asfortranarray(ROWS), "float64"),
    "strided": (lambda: np.repeat(np.array(ROWS), 2, axis=1)[:, ::2], "float64"),
    "long_double": (lambda: np.array(ROWS, dtype=np.longdouble), "float64"),
    "objects": (lambda: np.array(ROWS, dtype=object), "float64"),
    "subclass": (lambda: np.array(ROWS).view(_Loud), "float64"),
}


class _Loud(np.ndarray[Any, Any]):
    def __array_function__(self, *_: Any, **__: Any) -> Any:
        return True

    def __eq__(self, other: object) -> Any:
        return True

    __hash__ = None


@pytest.mark.parametrize(("make", "dtype"), ARRAYS.values(), ids=ARRAYS.keys())
def test_arrays(make: Callable[[], Any], dtype: str) -> None:
    value = plain(make())
    assert type(value) is np.ndarray
    assert value.dtype == np.dtype(dtype)
    assert value.tolist() == ROWS
    pack(value)


SCALARS: dict[str, tuple[Any, Any]] = {
    "tensor": (torch.tensor(2.5), 2.5),
    "int_tensor": (torch.tensor(7), 7),
    "bool_tensor": (torch.tensor(True), True),
    "float32": (np.float32(2.5), 2.5),
    "int64": (np.int64(7), 7),
    "uint8": (np.uint8(7), 7),
    "bool": (np.bool_(False), False),
    "text": (np.str_("valid"), "valid"),
    "zero_dimensions": (np.array(2.5), 2.5),
    "fraction": (fractions.Fraction(1, 4), 0.25),
    "decimal": (decimal.Decimal("0.5"), 0.5),
    "enum": (Colour.RED, 3),
    "labelled": (Labelled("same"), "same"),
    "none": (None, None),
    "large": (10**300, 10**300),
}


@pytest.mark.parametrize(("value", "expected"), SCALARS.values(), ids=SCALARS.keys())
def test_scalars(value: Any, expected: Any) -> None:
    made = plain(value)
    assert type(made) is type(expected)
    assert made == expected
    pack(made)


CONTAINERS: dict[str, tuple[Any, Any]] = {
    "tuple": ((1, 2.0, "a"), [1, 2.0, "a"]),
    "named_tuple": (Pair(1, (2, 3)), [1, [2, 3]]),
    "size": (torch.zeros(3, 4).shape, [3, 4]),
    "range": (range(4), [0, 1, 2, 3]),
    "ordered": (OrderedDict(a=torch.tensor(1)), {"a": 1}),
    "odd_keys": ({(1, 2): 3, 4: 5}, {"(1, 2)": 3, 4: 5}),
    "ragged": ([[1], [2, 3]], [[1], [2, 3]]),
}


@pytest.mark.parametrize(("value", "expected"), CONTAINERS.values(), ids=CONTAINERS.keys())
def test_containers(value: Any, expected: Any) -> None:
    made = plain(value)
    assert made == expected
    pack(made)


def test_masked_entries_become_nan() -> None:
    made = plain(np.ma.masked_array([1, 2], mask=[False, True]))
    assert made[0] == 1
    assert np.isnan(made[1])


def test_long_lists_of_numbers_become_arrays() -> None:
    assert isinstance(plain(list(range(100))), np.ndarray)
    assert isinstance(plain(["a"] * 100), list)
    assert len(plain(range(10**6))) == 10**6


def _raises(*_: Any, **__: Any) -> Any:
    raise ValueError("in the conversion")


def _endless(self: Any) -> Iterator[Any]:
    yield self


def _ring() -> list[Any]:
    ring: list[Any] = []
    ring.append(ring)
    return ring


REFUSED: dict[str, Any] = {
    "object": object(),
    "module": torch,
    "function": plain,
    "set": {1, 2},
    "generator": (one for one in (1, 2)),
    "complex": 1j,
    "complex_tensor": torch.zeros(2, dtype=torch.complex64),
    "complex_array": np.zeros(2, dtype=complex),
    "dates": np.array(["2020-01-01"], dtype="datetime64[D]"),
    "records": np.zeros(2, dtype=[("a", float)]),
    "texts": np.array(["a", "b"]),
    "objects": np.array([object()]),
    "meta_tensor": torch.zeros(2, device="meta"),
    "array_protocol": type("A", (), {"__array__": lambda self, *_, **__: np.zeros(3)})(),
    "float_protocol": type("F", (), {"__float__": lambda self: 1.0, "__index__": lambda self: 1})(),
    "always_equal": type("E", (), {"__eq__": lambda self, other: True, "__hash__": None})(),
    "contains_itself": _ring(),
    "iterates_for_ever": type("L", (list,), {"__iter__": _endless})([1]),
}


@pytest.mark.parametrize("value", REFUSED.values(), ids=REFUSED.keys())
def test_refused(value: Any) -> None:
    with pytest.raises((Unencodable, TypeError, ValueError, NotImplementedError, RuntimeError)):
        pack(plain(value))


LIARS: dict[str, tuple[Any, Any]] = {
    "list_length": (type("L", (list,), {"__len__": lambda self: 10**9})([1, 2]), [1, 2]),
    "dict_items": (type("D", (dict,), {"items": _raises, "__iter__": _raises})(a=1), {"a": 1}),
    "text": (
        type("S", (str,), {"__str__": _raises, "__eq__": lambda self, other: True, "__hash__": str.__hash__})(
            "w"
        ),
        "w",
    ),
    "array_attribute": (np.array(ROWS).view(type("N", (np.ndarray,), {"__array__": _raises})), ROWS),
}


@pytest.mark.parametrize(("value", "expected"), LIARS.values(), ids=LIARS.keys())
def test_what_a_subclass_says_of_itself_is_not_asked(value: Any, expected: Any) -> None:
    try:
        made = plain(value)
    except Exception:
        return  # no answer at all: nothing is gained
    assert (made.tolist() if isinstance(made, np.ndarray) else made) == expected


@pytest.mark.parametrize(
    "base", [int, float, list, tuple, dict, str, np.ndarray], ids=lambda base: base.__name__
)
def test_nothing_of_a_students_class_crosses(base: type) -> None:
    names = ["__eq__", "__ne__", "__lt__", "__sub__", "__abs__", "__le__", "__array_ufunc__"]
    kind = type("Agreeable", (base,), {**dict.fromkeys(names, lambda *_, **__: True), "__hash__": None})
    made = plain(np.zeros(3).view(kind) if base is np.ndarray else kind())
    assert type(made) in (int, float, list, dict, str, np.ndarray)
    pack(made)


def test_depth() -> None:
    deep: Any = 1
    for _ in range(30):
        deep = [deep]
    with pytest.raises(Unencodable):
        plain(deep)

"""A student's value as plain data, made on the student's side of the boundary.

Runs in the sandboxed process and depends on nothing of the package but `protocol`. Whatever a
class of the student's does here, it does to its own answer only.
"""

from __future__ import annotations

import decimal
import fractions
import numbers
from typing import Any

import numpy as np
import torch

from autograder.sandbox.protocol import Unencodable

_PARTS = 200_000
#: In all: a long list of lists is far below it, a list that holds itself twice doubles with each level.
_ALL_PARTS = 2_000_000
_DEPTH = 20


def plain(value: Any) -> Any:
    """Python numbers, text, lists, dicts and arrays; `Unencodable` for any other object.

    Tensors become arrays, fractions and decimals floats, ranges and tuples lists.
    """
    return _plain(value, 0, [0])


def _plain(value: Any, depth: int, parts: list[int]) -> Any:
    """`parts`: how many were made so far."""
    parts[0] += 1
    if depth > _DEPTH or parts[0] > _ALL_PARTS:
        raise Unencodable("nested too deeply or of too many parts")
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, torch.Tensor):
        return tensor(value)
    if isinstance(value, np.ma.MaskedArray):
        return _plain(np.ma.filled(value.astype(float), np.nan), depth + 1, parts)
    if isinstance(value, np.ndarray | np.generic):
        return _array(np.asarray(value))
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Rational | numbers.Real | decimal.Decimal | fractions.Fraction):
        return float(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, dict):
        return {_key(key): _plain(one, depth + 1, parts) for key, one in list(dict.items(value))[:_PARTS]}
    if isinstance(value, list | tuple | range):
        if len(value) > _PARTS:
            return _array(np.asarray(value))
        return _stacked([_plain(one, depth + 1, parts) for one in value])
    raise Unencodable("not plain data")


def tensor(value: torch.Tensor) -> Any:
    """A tensor of any device, layout or gradient as an array of the same shape; 0-d as a number."""
    value = value.detach()
    if value.layout is not torch.strided:
        value = value.to_dense()
    if value.dtype in (torch.bfloat16,):
        value = value.float()
    return _array(value.cpu().resolve_conj().resolve_neg().numpy())


def _array(value: np.ndarray[Any, Any]) -> Any:
    if value.dtype.kind == "O":
        value = value.astype(np.float64)
    if value.dtype.kind == "f" and value.dtype.itemsize > 8:
        value = value.astype(np.float64)
    if value.dtype.kind in "US" and value.ndim == 0:
        return str(value)
    if value.dtype.kind not in "biuf":
        raise Unencodable("not an array of numbers")
    value = np.ascontiguousarray(value).view(np.ndarray) if value.ndim else value
    return value.item() if value.ndim == 0 else value.astype(value.dtype.newbyteorder("="))


def _stacked(parts: list[Any]) -> Any:
    """Long lists of numbers cross as arrays; anything else stays a list."""
    if len(parts) > 64 and all(type(part) in (int, float) and abs(part) < 2**53 for part in parts):
        return np.asarray(parts)
    return parts


def _key(key: Any) -> Any:
    if key is None or type(key) in (bool, int, float, str):
        return key
    return str(key)[:200]

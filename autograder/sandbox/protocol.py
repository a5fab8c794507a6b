"""Frames between the trusted process and a sandbox: a JSON header and raw array bytes.

Both sides use this file, so it imports numpy and the standard library only. Nothing is ever
pickled or evaluated, and `decode` builds plain values, whatever the other side sent.
"""

from __future__ import annotations

import json
import math
import re
import socket
import struct
import time
from typing import Any

import numpy as np

_PREFIX = struct.Struct("<II")
_HEADER_LIMIT, _LENGTHS_LIMIT = 24 << 20, 1 << 20
#: Kept here, as a student's code may put others in their place.
_to_json, _float_text = json.JSONEncoder().encode, float.__repr__
_DTYPES = frozenset(
    [
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
    ]
)
_TAG = "!"
_DEPTH, _NODES = 24, 200_000
_DIMENSIONS, _SIDE = 32, 2**40
#: Brackets and commas of a header outside of its texts: each may cost a hundred bytes once it is parsed. An
#: answer of `_NODES` parts, as `plain` makes them, has two a part. 500 000 took 0.2 s and 80 MB, 4 million
#: 2 s and 530 MB. The texts are looked through only where there are not too many of them.
_TOKENS, _QUOTES = 500_000, 1_000_000
_TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


class ProtocolError(Exception):
    """The other side sent what is not a frame, or more than is allowed."""


class Closed(ProtocolError):
    """The other side has gone."""


class Late(ProtocolError):
    """Nothing whole arrived within the time."""


class Unencodable(Exception):
    """A value is too deep, too long or too large to cross."""


def pack(message: Any, limit: int | None = None) -> bytes:
    """One frame of plain values and arrays; with a `limit`, one that `receive` takes with the same limit.

    Raises `Unencodable`. A worker sends nothing else, so what `receive` refuses was sent by other code.
    """
    buffers: list[bytes] = []
    header = _to_json(encode(message, buffers)).encode("ascii")
    lengths = _to_json([len(buffer) for buffer in buffers]).encode("ascii")
    if limit is not None:
        large = len(header) > min(limit, _HEADER_LIMIT) or len(lengths) > _LENGTHS_LIMIT
        if large or len(header) + sum(map(len, buffers)) > limit:
            raise Unencodable("the value is too large")
        if _has_too_many_parts(header) or _has_too_many_parts(lengths):
            raise Unencodable("the value has too many parts")
    return b"".join([_PREFIX.pack(len(header), len(lengths)), header, lengths, *buffers])


def send(channel: socket.socket, message: Any, deadline: float | None = None) -> None:
    """Send one message of plain values and arrays, by the monotonic `deadline` (None waits for ever).

    Raises `Closed` when nobody listens, `Late` when nobody reads.
    """
    send_frame(channel, pack(message), deadline)


def send_frame(channel: socket.socket, frame: bytes, deadline: float | None = None) -> None:
    """As `send`, of a frame that `pack` has made."""
    try:
        channel.settimeout(_remaining(deadline))
        channel.sendall(frame)
    except TimeoutError as error:
        raise Late("the message was not read within the time") from error
    except OSError as error:
        raise Closed("the other side does not read any more") from error


def receive(channel: socket.socket, deadline: float | None, limit: int) -> Any:
    """One message, by the monotonic `deadline` (None waits for ever), at most `limit` bytes.

    Raises `Closed`, `Late`, or `ProtocolError` for anything that is not a message.
    """
    header_size, lengths_size = _PREFIX.unpack(_read(channel, _PREFIX.size, deadline))
    if header_size > min(limit, _HEADER_LIMIT) or lengths_size > _LENGTHS_LIMIT:
        raise ProtocolError("a frame is larger than is allowed")
    header = _read(channel, header_size, deadline)
    lengths = _parse(_read(channel, lengths_size, deadline))
    if not isinstance(lengths, list) or not all(type(one) is int and one >= 0 for one in lengths):
        raise ProtocolError("a frame does not say how long its arrays are")
    if header_size + sum(lengths) > limit:
        raise ProtocolError("a frame is larger than is allowed")
    buffers = [_read(channel, length, deadline) for length in lengths]
    return decode(_parse(header), buffers)


def encode(value: Any, buffers: list[bytes]) -> Any:
    """JSON for plain values; arrays go to `buffers`. Raises `Unencodable` for anything else."""
    return _Encoder(buffers).encode(value, 0)


class _Encoder:
    def __init__(self, buffers: list[bytes]) -> None:
        self._buffers = buffers
        self._nodes = 0

    def encode(self, value: Any, depth: int) -> Any:
        self._nodes += 1
        if depth > _DEPTH or self._nodes > _NODES:
            raise Unencodable("the value is nested too deeply or has too many parts")
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            if -(2**53) < value < 2**53:
                return value
            if value.bit_length() > 4096:
                raise Unencodable("the integer is too long")
            return {_TAG: "int", "v": hex(value)}
        if kind is float:
            return value if math.isfinite(value) else {_TAG: "float", "v": _float_text(value)}
        if kind is bytes:
            return {_TAG: "bytes", "v": self._store(value)}
        if kind is list:
            return [self.encode(one, depth + 1) for one in value]
        if kind is tuple:
            return {_TAG: "tuple", "v": [self.encode(one, depth + 1) for one in value]}
        if kind is dict:
            pairs = [[self.encode(key, depth + 1), self.encode(one, depth + 1)] for key, one in value.items()]
            return {_TAG: "dict", "v": pairs}
        if kind is np.ndarray and value.dtype.name in _DTYPES:
            if value.ndim > _DIMENSIONS or max(value.shape, default=0) >= _SIDE:
                raise Unencodable("the array has too many dimensions or too long a side")
            data = np.ascontiguousarray(value).tobytes()
            return {_TAG: "array", "v": self._store(data), "d": value.dtype.name, "s": list(value.shape)}
        raise Unencodable("the value is not plain data")

    def _store(self, data: bytes) -> int:
        self._buffers.append(data)
        return len(self._buffers) - 1


def decode(value: Any, buffers: list[bytes]) -> Any:
    """Plain values from parsed JSON. Raises `ProtocolError` on anything unexpected."""
    try:
        return _Decoder(buffers).decode(value, 0)
    except (KeyError, IndexError, TypeError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise ProtocolError("a frame holds what is not a value") from error


class _Decoder:
    """As many parts as an encoder makes, and each buffer for one value: no small frame grows large."""

    def __init__(self, buffers: list[bytes]) -> None:
        self._buffers: list[bytes | None] = [*buffers]
        self._nodes = 0

    def decode(self, value: Any, depth: int) -> Any:
        self._nodes += 1
        if depth > 2 * _DEPTH + 4 or self._nodes > _NODES:
            raise ValueError("too deep or too many parts")
        if isinstance(value, str):
            return value.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate breaks every writer
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, list):
            return [self.decode(one, depth + 1) for one in value]
        kind = value[_TAG]
        content = value["v"]
        if kind == "int":
            if not isinstance(content, str) or len(content) > 1100:
                raise ValueError("not an integer")
            return int(content, 16)
        if kind == "float":
            if content not in ("nan", "inf", "-inf"):
                raise ValueError("not a float")
            return float(content)
        if kind == "bytes":
            return self._buffer(content)
        if kind == "dict":
            return {
                _key(self.decode(key, depth + 1)): self.decode(one, depth + 1) for key, one in _list(content)
            }
        if kind == "tuple":
            return tuple(self.decode(one, depth + 1) for one in _list(content))
        if kind == "array":
            return _array(self._buffer(content), value["d"], value["s"])
        raise ValueError("an unknown kind")

    def _buffer(self, index: Any) -> bytes:
        if type(index) is not int or index < 0:
            raise ValueError("not an index")
        data, self._buffers[index] = self._buffers[index], None
        if data is None:
            raise ValueError("a buffer is named twice")
        return data


def _list(content: Any) -> list[Any]:
    if not isinstance(content, list):
        raise ValueError("not a list")
    return content


def _key(key: Any) -> Any:
    if key is None or isinstance(key, str | int | float | bool):
        return key
    raise ValueError("not a key")


def _array(data: bytes, dtype: Any, shape: Any) -> np.ndarray[Any, Any]:
    if (
        not isinstance(dtype, str)
        or dtype not in _DTYPES
        or not isinstance(shape, list)
        or len(shape) > _DIMENSIONS
    ):
        raise ValueError("not an array")
    if not all(type(side) is int and 0 <= side < _SIDE for side in shape):
        raise ValueError("not a shape")
    kind = np.dtype(dtype)
    if math.prod(shape) * kind.itemsize != len(data):
        raise ValueError("the shape does not match the bytes")
    if dtype == "bool":
        flags: np.ndarray[Any, Any] = np.frombuffer(data, np.uint8) != 0
        return flags.reshape(shape)
    return np.frombuffer(data, kind).reshape(shape).copy()


def _parse(data: bytes) -> Any:
    if _has_too_many_parts(data):
        raise ProtocolError("a frame's header has too many parts")
    try:
        return json.loads(data)
    except (ValueError, RecursionError, MemoryError) as error:
        raise ProtocolError("a frame's header is not JSON") from error


def _has_too_many_parts(data: bytes) -> bool:
    if _tokens(data) <= _TOKENS:
        return False
    return data.count(b'"') > _QUOTES or _tokens(_TEXT.sub(b"", data)) > _TOKENS


def _tokens(data: bytes) -> int:
    return sum(map(data.count, (b"[", b"{", b",")))


def _remaining(deadline: float | None) -> float | None:
    """Seconds until `deadline`; a little even when it has passed, as 0 would mean not to wait at all."""
    return None if deadline is None else max(1e-3, deadline - time.monotonic())


def _read(channel: socket.socket, size: int, deadline: float | None) -> bytes:
    parts: list[bytes] = []
    while size > 0:
        if deadline is not None and time.monotonic() >= deadline:
            raise Late("no whole answer came within the time")
        try:
            channel.settimeout(_remaining(deadline))
            part = channel.recv(min(size, 1 << 20))
        except TimeoutError as error:
            raise Late("no whole answer came within the time") from error
        except OSError as error:
            raise Closed("the other side has gone") from error
        if not part:
            raise Closed("the other side has gone")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)

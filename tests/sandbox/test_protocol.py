"""Frames that honest code sends come back equal; hostile ones raise `ProtocolError` and nothing else."""

from __future__ import annotations

import json
import math
import socket
import struct
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as stn

from autograder.sandbox import protocol

LIMIT = 1 << 20

_WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_NUMBERS = st.booleans() | st.integers(-(2**200), 2**200) | st.floats() | st.none()
_ARRAYS = st.sampled_from(
    ["bool", "int8", "int16", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64"]
).flatmap(lambda name: stn.arrays(np.dtype(name), stn.array_shapes(min_dims=0, max_dims=4, min_side=0)))
VALUES = st.recursive(
    _NUMBERS | _WORDS | st.binary(max_size=20) | _ARRAYS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(_WORDS | st.integers(-9, 9) | st.none(), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def _same(left: Any, right: Any) -> bool:
    if type(left) is not type(right):
        return False
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and np.array_equal(left, right, equal_nan=left.dtype.kind == "f")
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(_same(one, right[key]) for key, one in left.items())
    if isinstance(left, float):
        return left == right or (math.isnan(left) and math.isnan(right))
    return bool(left == right)


@settings(max_examples=120, deadline=None)
@given(VALUES)
def test_round_trip(value: Any) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        protocol.send(theirs, value)
        assert _same(protocol.receive(ours, time.monotonic() + 5, LIMIT), value)


@pytest.mark.parametrize(
    "value",
    [
        object(),
        {1, 2},
        1j,
        np.float64(1.0),
        np.array(["a"]),
        np.array([None]),
        1 << 5000,
        type("Int", (int,), {})(3),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_plain_does_not_leave(value: Any) -> None:
    with pytest.raises(protocol.Unencodable):
        protocol.pack(value)


def test_too_deep_and_too_many() -> None:
    deep: Any = 0
    for _ in range(40):
        deep = [deep]
    for value in (deep, [0] * 300_000):
        with pytest.raises(protocol.Unencodable):
            protocol.pack(value)


def frame(header: bytes | Any, *buffers: bytes, lengths: bytes | Any = None) -> bytes:
    """A frame of any content: bytes as they are, anything else as JSON."""
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    said = [len(one) for one in buffers] if lengths is None else lengths
    tail = said if isinstance(said, bytes) else json.dumps(said).encode()
    return struct.pack("<II", len(head), len(tail)) + head + tail + b"".join(buffers)


def array(index: Any = 0, dtype: Any = "float64", shape: Any = (1,)) -> dict[str, Any]:
    return {"!": "array", "v": index, "d": dtype, "s": list(shape) if isinstance(shape, tuple) else shape}


EIGHT = b"\0" * 8

HOSTILE = {
    "not_json": frame(b"{"),
    "empty_header": frame(b""),
    "not_utf8": frame(b'"\xff\xfe\xfa"'),
    "pickle": frame(b"\x80\x04K\x01."),
    "deep_lists": frame(b"[" * 100_000 + b"]" * 100_000),
    "deep_dicts": frame(b'{"!":' * 50_000 + b"1" + b"}" * 50_000),
    "unclosed": frame(b"[" * 500_000),
    "nested_beyond_the_depth": frame(b"[" * 60 + b"]" * 60),
    "many_parts": frame(b"[" + b"0," * 250_000 + b"0]"),
    "many_empty_lists": frame(b"[" + b"[]," * 250_000 + b"[]]"),
    "digits": frame(b"1" * 5_000),
    "hex_too_long": frame({"!": "int", "v": "f" * 5_000}),
    "hex_is_a_number": frame({"!": "int", "v": 12}),
    "hex_is_a_word": frame({"!": "int", "v": "number"}),
    "float_is_a_word": frame({"!": "float", "v": "1e3"}),
    "float_is_a_list": frame({"!": "float", "v": ["nan"]}),
    "no_tag": frame({"v": 1}),
    "no_content": frame({"!": "int"}),
    "unknown_tag": frame({"!": "object", "v": 1}),
    "tag_is_a_list": frame({"!": ["int"], "v": "1"}),
    "tag_is_null": frame({"!": None, "v": "1"}),
    "duplicate_keys": frame(b'{"!": "float", "v": "nan", "!": "int"}'),
    "dict_of_numbers": frame({"!": "dict", "v": 7}),
    "dict_of_a_text": frame({"!": "dict", "v": "ab"}),
    "dict_of_triples": frame({"!": "dict", "v": [[1, 2, 3]]}),
    "dict_of_dict": frame({"!": "dict", "v": {"!": "int", "v": "1"}}),
    "key_is_a_list": frame({"!": "dict", "v": [[[1], 2]]}),
    "key_is_an_array": frame({"!": "dict", "v": [[array(), 2]]}, EIGHT),
    "tuple_of_a_text": frame({"!": "tuple", "v": "abc"}),
    "tuple_of_null": frame({"!": "tuple", "v": None}),
    "shape_too_large": frame(array(shape=(2,)), EIGHT),
    "shape_too_small": frame(array(shape=(0,)), EIGHT),
    "shape_negative": frame(array(shape=(-1, -1)), EIGHT),
    "shape_of_bools": frame(array(shape=[True]), EIGHT),
    "shape_of_floats": frame(array(shape=[1.0]), EIGHT),
    "shape_of_words": frame(array(shape=["1"]), EIGHT),
    "shape_is_a_number": frame(array(shape=1), EIGHT),
    "shape_is_null": frame(array(shape=None), EIGHT),
    "shape_huge": frame(array(shape=(2**39, 2**39, 2**39)), EIGHT),
    "shape_overflows_to_zero": frame(array(shape=(0, 2**39, 2**39, 2**39)), b""),
    "shape_of_a_hundred": frame(array(shape=tuple([1] * 100)), EIGHT),
    "dtype_object": frame(array(dtype="object"), EIGHT),
    "dtype_text": frame(array(dtype="U2"), EIGHT),
    "dtype_record": frame(array(dtype=[["a", "f8"]]), EIGHT),
    "dtype_complex": frame(array(dtype="complex64"), EIGHT),
    "dtype_null": frame(array(dtype=None), EIGHT),
    "index_negative": frame(array(index=-1), EIGHT),
    "index_beyond": frame(array(index=1), EIGHT),
    "index_bool": frame(array(index=False), EIGHT),
    "index_word": frame(array(index="0"), EIGHT),
    "bytes_beyond": frame({"!": "bytes", "v": 3}),
    "buffer_named_twice": frame([array(), array()], EIGHT),
    "bytes_named_twice": frame([{"!": "bytes", "v": 0}] * 1000, b"\0" * 1000),
    "lengths_negative": frame(array(), lengths=[-8]),
    "lengths_bool": frame(array(), b"\0", lengths=[True]),
    "lengths_float": frame(array(), EIGHT, lengths=[8.0]),
    "lengths_nan": frame(array(), EIGHT, lengths=b"[NaN]"),
    "lengths_is_a_dict": frame(array(), EIGHT, lengths={"0": 8}),
    "lengths_nested": frame(array(), EIGHT, lengths=[[8]]),
    "lengths_not_json": frame(array(), EIGHT, lengths=b"8,"),
    "lengths_digits": frame(array(), EIGHT, lengths=b"[" + b"9" * 5000 + b"]"),
    "lengths_huge": frame(array(), EIGHT, lengths=[2**62]),
    "lengths_sum_huge": frame(array(), EIGHT, lengths=[LIMIT // 2] * 3),
    "header_too_large": struct.pack("<II", LIMIT + 1, 2),
    "header_of_four_gib": struct.pack("<II", 2**32 - 1, 2**32 - 1),
    "lengths_too_large": struct.pack("<II", 10, 2**21),
    "cut_in_the_prefix": b"\x01\0",
    "cut_in_the_header": frame({"!": "int", "v": "1"})[:-8],
    "cut_in_a_buffer": frame(array(shape=(2,)), lengths=[16]) + EIGHT,
    "text": b"Score: 20 / 20\n" * 100,
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_frame(data: bytes, pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    sender = threading.Thread(target=_pour, args=(theirs, data))
    sender.start()
    try:
        with pytest.raises(protocol.ProtocolError):
            protocol.receive(ours, time.monotonic() + 5, LIMIT)
    finally:
        ours.close()
        sender.join()


def _pour(channel: socket.socket, data: bytes) -> None:
    try:
        channel.sendall(data)
        channel.shutdown(socket.SHUT_WR)
    except OSError:
        pass


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60), st.binary(max_size=20))
def test_random_bytes(header: bytes, rest: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        _pour(theirs, frame(header, lengths=b"[]") + rest)
        try:
            protocol.receive(ours, time.monotonic() + 5, LIMIT)
        except protocol.ProtocolError:
            pass


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["!", "v", "d", "s", "x"]), inner, max_size=4)
        | st.fixed_dictionaries(
            {
                "!": st.sampled_from(["int", "float", "bytes", "dict", "tuple", "array"]),
                "v": inner | st.just(0),
                "d": st.sampled_from(["float64", "bool", "object"]),
                "s": inner | st.just([1]),
            }
        )
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(_JSON)
def test_random_json(header: Any) -> None:
    """Any JSON is a plain value or a `ProtocolError`."""
    try:
        value = protocol.decode(header, [EIGHT])
    except protocol.ProtocolError:
        return
    assert isinstance(value, str | int | float | list | tuple | dict | bytes | np.ndarray | None)


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(b"[" + b"[]," * 250_001 + b"1]", id="lists"),
        pytest.param(b"[" + b'{"a":1},' * 250_001 + b"1]", id="objects"),
        pytest.param(b"[" + b"1," * 500_001 + b"1]", id="numbers"),
        pytest.param(b"[" + b'"",' * 500_001 + b"1]", id="texts"),
        pytest.param(b'["' + b"," * 500_001 + b'"' + b",[]" * 250_001 + b"]", id="after a text"),
    ],
)
def test_a_header_of_many_parts_is_not_parsed(header: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "json", None)
    with pytest.raises(protocol.ProtocolError, match="too many parts"):
        protocol._parse(header)


def test_the_largest_answer_has_few_enough_parts() -> None:
    """As the worker makes them: long lists of numbers are arrays, tuples are lists."""
    for value in (
        [[0.5, "a"]] * 66_000,
        {f"k{number}": [number] for number in range(66_000)},
        ["", 1] * 99_000,
    ):
        frame = protocol.pack(value)
        header = frame[8 : 8 + int.from_bytes(frame[:4], "little")]
        assert protocol.decode(protocol._parse(header), []) == value


def test_commas_that_were_printed_are_no_parts(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    printed = {"outputs": [{"output_type": "stream", "text": "1, 2, [" * 140_000}]}
    sender = threading.Thread(target=protocol.send, args=(theirs, printed))
    sender.start()
    assert protocol.receive(ours, time.monotonic() + 20, 1 << 24) == printed
    sender.join()


def test_non_finite_numbers_arrive_as_themselves(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    theirs.sendall(frame(b"[NaN, Infinity, -Infinity, 1e999]"))
    value = protocol.receive(ours, time.monotonic() + 5, LIMIT)
    assert math.isnan(value[0])
    assert value[1:] == [math.inf, -math.inf, math.inf]


def test_lone_surrogates_are_replaced(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    protocol.send(theirs, {"\ud800": "a\udfffb"})
    assert protocol.receive(ours, time.monotonic() + 5, LIMIT) == {"?": "a?b"}


def test_bool_arrays_hold_only_bools(pair: tuple[socket.socket, socket.socket]) -> None:
    """Bytes that are neither 0 nor 1 would make a bool that is true and false at once."""
    ours, theirs = pair
    theirs.sendall(frame(array(dtype="bool", shape=(3,)), b"\x00\x02\xff"))
    value = protocol.receive(ours, time.monotonic() + 5, LIMIT)
    assert value.view(np.uint8).tolist() == [0, 1, 1]


def test_endless_stream_is_late(pair: tuple[socket.socket, socket.socket]) -> None:
    """A reply that comes byte by byte does not move the deadline."""
    ours, theirs = pair
    stop = threading.Event()

    def drip() -> None:
        theirs.sendall(struct.pack("<II", 1000, 2))
        while not stop.wait(0.02):
            theirs.sendall(b" ")

    sender = threading.Thread(target=drip)
    sender.start()
    started = time.monotonic()
    try:
        with pytest.raises(protocol.Late):
            protocol.receive(ours, started + 0.3, LIMIT)
        assert time.monotonic() - started < 2
    finally:
        stop.set()
        sender.join()


def test_silence_is_late(pair: tuple[socket.socket, socket.socket]) -> None:
    with pytest.raises(protocol.Late):
        protocol.receive(pair[0], time.monotonic() + 0.1, LIMIT)


def test_a_reader_that_has_stopped_does_not_hold_the_sender(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    with pytest.raises(protocol.Late):
        protocol.send(pair[0], b"\0" * (8 << 20), time.monotonic() + 0.2)


def test_closed(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    theirs.close()
    with pytest.raises(protocol.Closed):
        protocol.receive(ours, None, LIMIT)
    with pytest.raises(protocol.Closed):
        protocol.send(ours, 1)

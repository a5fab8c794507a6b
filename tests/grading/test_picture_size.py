"""What a picture's header says of its size."""

from __future__ import annotations

import io

import matplotlib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.grading.picture_size import is_reasonable, picture_size

from .pictures import jpeg, png


@pytest.mark.parametrize("kind", ["png", "jpeg"])
def test_pictures_as_matplotlib_writes_them(kind: str) -> None:
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    file = io.BytesIO()
    Figure(figsize=(3, 2), dpi=100).savefig(file, format=kind)
    assert picture_size(file.getvalue()) == (300, 200)


@pytest.mark.parametrize("frame", [0xC0, 0xC1, 0xC2, 0xCF])
def test_the_frame_of_a_jpeg_is_found_behind_other_segments(frame: int) -> None:
    assert picture_size(jpeg(640, 480, frame)) == (640, 480)


@pytest.mark.parametrize("segment", [0xC4, 0xC8, 0xCC])
def test_a_table_is_no_frame(segment: int) -> None:
    assert picture_size(jpeg(640, 480, segment)) is None


@pytest.mark.parametrize(
    "data", [b"", b"GIF89a", png(1, 1)[:20], b"\x89PNG\r\n\x1a\n" + b"x" * 40, b"\xff\xd8" * 900]
)
def test_what_says_no_size(data: bytes) -> None:
    assert picture_size(data) is None


def test_a_jpeg_of_segments_alone_is_not_read_for_ever() -> None:
    assert picture_size(b"\xff\xd8" + b"\xff\xfe\0\0" * 100_000) is None


@given(st.binary(max_size=60))
def test_any_bytes_are_taken(rest: bytes) -> None:
    for start in (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"):
        sides = picture_size(start + rest)
        assert sides is None or all(side >= 0 for side in sides)


def test_what_is_reasonable() -> None:
    assert is_reasonable((1_000, 700))
    assert not is_reasonable((100_000, 100_000))
    assert not is_reasonable((10_001, 1))
    assert not is_reasonable((0, 5))
    assert not is_reasonable((6_000, 6_000))

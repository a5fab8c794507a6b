"""How large a picture says that it is, from its first bytes: nothing of it is decoded."""

from __future__ import annotations

import struct

_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8"
#: A few kilobytes may say that they are 100 000 by 100 000 pixels, which is 40 GB in a browser. The largest
#: figure of our solutions has 650 000 pixels.
LONGEST_SIDE, MOST_PIXELS = 10_000, 25_000_000
#: Segments before the one that says the size; cameras write some ten.
_MOST_SEGMENTS = 200
#: Starts of frame: every C0 to CF but for tables (C4, CC) and what was never used (C8).
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def picture_size(data: bytes) -> tuple[int, int] | None:
    """Width and height in pixels of a PNG or JPEG; None where its header does not say so."""
    if data.startswith(_PNG):
        if data[12:16] != b"IHDR" or len(data) < 24:
            return None
        width, height = struct.unpack(">II", data[16:24])
        return width, height
    return _jpeg(data) if data.startswith(_JPEG) else None


def is_reasonable(sides: tuple[int, int]) -> bool:
    """Whether a browser may be asked to show a picture of this width and height."""
    width, height = sides
    return 0 < width <= LONGEST_SIDE and 0 < height <= LONGEST_SIDE and width * height <= MOST_PIXELS


def _jpeg(data: bytes) -> tuple[int, int] | None:
    at = 2
    for _ in range(_MOST_SEGMENTS):
        while data[at : at + 2] == b"\xff\xff":
            at += 1  # fill bytes
        if len(data) < at + 9 or data[at] != 0xFF:
            return None
        if data[at + 1] in _FRAMES:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + int(struct.unpack(">H", data[at + 2 : at + 4])[0])
    return None

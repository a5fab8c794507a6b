"""The first bytes of pictures of any size."""

from __future__ import annotations

import struct


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\x08\x02\0\0\0"


def jpeg(width: int, height: int, frame: int = 0xC0) -> bytes:
    """With a comment before the frame, and fill bytes."""
    comment = b"\xff\xfe" + struct.pack(">H", 6) + b"\xff\xc0ab"
    return b"\xff\xd8" + comment + b"\xff\xff" + struct.pack(">BHBHH", frame, 11, 8, height, width) + b"\x01"

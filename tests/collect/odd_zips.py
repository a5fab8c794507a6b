"""Zips as nobody should make them."""

from __future__ import annotations

import io
import struct
import warnings
import zipfile
from collections.abc import Callable

from .downloads import notebook


def packed(*entries: tuple[str, bytes], way: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip with these entries in this order, whatever they are called."""
    made = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of a name that comes twice
        with zipfile.ZipFile(made, "w", way) as archive:
            for name, data in entries:
                entry = zipfile.ZipInfo("x")
                entry.filename, entry.compress_type = name, way
                archive.writestr(entry, data)
    return made.getvalue()


def changed(data: bytes, offset: int, *values: int) -> bytes:
    """Bytes of the first entry's header, in the directory and before the data, set to these."""
    spoiled = bytearray(data)
    place = data.index(b"PK\x01\x02")
    spoiled[place + offset + 2 : place + offset + 2 + len(values)] = bytes(values)
    spoiled[offset : offset + len(values)] = bytes(values)
    return bytes(spoiled)


def spoiled_lzma() -> bytes:
    data = bytearray(packed(("toy.ipynb", notebook()), way=zipfile.ZIP_LZMA))
    place = data.index(b"toy.ipynb") + len("toy.ipynb") + 4
    data[place : place + 5] = b"\xff" * 5  # what the packer says of itself
    return bytes(data)


def lzma_of_four_gigabytes() -> bytes:
    """The packer says that it looks back over 4 GiB."""
    data = bytearray(packed(("toy.ipynb", notebook()), way=zipfile.ZIP_LZMA))
    place = data.index(b"toy.ipynb") + len("toy.ipynb") + 4
    data[place + 1 : place + 5] = b"\xff\xff\xff\xff"
    return bytes(data)


def wrong_sum() -> bytes:
    return changed(packed(("toy.ipynb", notebook())), 14, 1, 2, 3, 4)


def zip64_lie() -> bytes:
    """Sizes that are said to stand elsewhere, where nothing stands."""
    return changed(packed(("toy.ipynb", notebook())), 18, *b"\xff" * 8)


def name_not_in_utf8() -> bytes:
    data = packed(("\u00e9.ipynb", notebook()))
    return data.replace("\u00e9.ipynb".encode(), b"\xff\xff.ipynb")


def directory_elsewhere() -> bytes:
    data = bytearray(packed(("toy.ipynb", notebook())))
    end = data.rindex(b"PK\x05\x06")
    struct.pack_into("<I", data, end + 16, 0xFFFFFF00)
    return bytes(data)


RIGHT = ("toy.ipynb", notebook())

KEPT = "of this name is kept"
#: What a student's own zip may be; what is said of it; and the files that are collected all the same.
INNER: dict[str, tuple[Callable[[], bytes], str, list[str]]] = {
    "spoiled LZMA": (spoiled_lzma, "damaged in the zip", []),
    "LZMA that wants four gigabytes": (lzma_of_four_gigabytes, "", ["toy.ipynb"]),
    "wrong checksum": (wrong_sum, "damaged in the zip", []),
    "zip64 lie": (zip64_lie, "zip", []),
    "way of packing that nobody knows": (lambda: changed(packed(RIGHT), 8, 77, 0), "cannot be unpacked", []),
    "encrypted": (lambda: changed(packed(RIGHT), 6, 1, 0), "encrypted", []),
    "name not in UTF-8": (name_not_in_utf8, "zip cannot be read", []),
    "directory elsewhere": (directory_elsewhere, "damaged in the zip", []),
    "no zip": (lambda: b"PK\x03\x04 and no more", "zip cannot be read", []),
    "empty": (lambda: b"", "zip cannot be read", []),
    "an entry without a name": (lambda: packed(("", b"x"), RIGHT), "it has no name", ["toy.ipynb"]),
    "an entry called .": (lambda: packed((".", b"x"), RIGHT), "it has no name", ["toy.ipynb"]),
    "an entry called ./": (lambda: packed(("./", b""), RIGHT), "", ["toy.ipynb"]),
    "an entry called ..": (lambda: packed(("..", b"x"), RIGHT), "points out", ["toy.ipynb"]),
    "a NUL in a name": (lambda: packed(("a\0b", b"x"), RIGHT), "do not show", ["toy.ipynb"]),
    "a NUL alone": (lambda: packed(("\0", b"x"), RIGHT), "do not show", ["toy.ipynb"]),
    "a drive": (lambda: packed(("C:\\evil.txt", b"x"), RIGHT), "points out", ["toy.ipynb"]),
    "a share": (lambda: packed(("\\\\host\\evil.txt", b"x"), RIGHT), "points out", ["toy.ipynb"]),
    "a part of 300 letters": (lambda: packed(("d/" + "x" * 300, b"x"), RIGHT), "too long", ["toy.ipynb"]),
    "a path of 100 000 letters": (lambda: packed(("d/" * 25_000, b""), ("d/" * 25_000 + "x", b""), RIGHT),
                                  "too long", ["toy.ipynb"]),
    "two slashes": (lambda: packed(("d//tmp/evil.txt", b"x"), RIGHT), "", ["d/tmp/evil.txt", "toy.ipynb"]),
    "the notebook as a folder": (lambda: packed(("./toy.ipynb/x", b"x"), ("my.ipynb", notebook())),
                                 KEPT, ["toy.ipynb"]),
    "a folder in a file": (lambda: packed(("./a", b"x"), ("a/b", b"y"), RIGHT), KEPT, ["a", "toy.ipynb"]),
    "a file in a folder": (lambda: packed(("a/b", b"y"), ("a", b"x"), RIGHT), KEPT, ["a/b", "toy.ipynb"]),
    "timestamp.txt as a folder": (lambda: packed(("timestamp.txt/x", b"x"), RIGHT), KEPT, ["toy.ipynb"]),
    "Timestamp.TXT as a folder": (lambda: packed(("Timestamp.TXT/x", b"x"), RIGHT), KEPT, ["toy.ipynb"]),
    "one name twice": (lambda: packed(("a", b"x"), ("a", b"y"), RIGHT), KEPT, ["a", "toy.ipynb"]),
    "names that differ in case": (lambda: packed(("A", b"x"), ("a", b"y"), RIGHT), KEPT, ["A", "toy.ipynb"]),
    "two ways to write an accent": (lambda: packed(("\u00e9", b"x"), ("e\u0301", b"y"), RIGHT),
                                    KEPT, ["\u00e9", "toy.ipynb"]),
    "a dot at the end": (lambda: packed(("toy.ipynb.", b"x"), RIGHT), "", ["toy.ipynb", "toy.ipynb."]),
}  # fmt: skip

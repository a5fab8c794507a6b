"""What a cell puts out, capped while it is made. Runs in the sandboxed process: standard library only."""

from __future__ import annotations

import io
from typing import Any

#: Outputs of one cell, however small each is.
_ITEMS = 1_000
_CUT = "\n[The rest of this output was cut: the cell put out too much.]\n"


class Outputs:
    """The outputs of the cell that runs, as nbformat 4 dicts, up to `limit` characters in all."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.open = True
        self.items: list[dict[str, Any]] = []
        #: What was added to the last stream and is not in its item yet: joining for each line is slow.
        self._parts: list[str] = []
        self._size = 0
        self._clear_next = False

    def start(self) -> None:
        self.items, self._parts, self._size, self._clear_next = [], [], 0, False

    def flush(self) -> None:
        """Put what was added to the last stream into its item."""
        if self._parts:
            self.items[-1]["text"] += "".join(self._parts)
            self._parts = []

    def text(self, name: str, text: str) -> None:
        """Add to a stream, merging with the last one of the same name."""
        if not self.open or not text:
            return
        self._clear_if_asked()
        room = self.limit - self._size
        if room <= 0:
            return
        self._size += len(text)
        if len(text) > room:
            text = text[:room] + _CUT
        last = self.items[-1] if self.items else None
        if last and last["output_type"] == "stream" and last["name"] == name:
            self._parts.append(text)
        else:
            self._append({"output_type": "stream", "name": name, "text": text})

    def add(self, output: dict[str, Any], size: int) -> None:
        """Add a whole output, or say that it was too large."""
        if not self.open:
            return
        self._clear_if_asked()
        self._size += size
        if self._size > self.limit and size > 0:
            self.text("stderr", "[An output was left out: the cell put out too much.]\n")
            return
        self._append(output)

    def _append(self, output: dict[str, Any]) -> None:
        self.flush()
        if len(self.items) < _ITEMS:
            self.items.append(output)
        elif len(self.items) == _ITEMS:
            self.items.append({"output_type": "stream", "name": "stderr", "text": _CUT})

    def clear(self, wait: bool) -> None:
        if wait:
            self._clear_next = True
        else:
            self.start()

    def _clear_if_asked(self) -> None:
        if self._clear_next:
            self.start()


class Stream(io.TextIOBase):
    """`sys.stdout` or `sys.stderr` of a cell."""

    encoding = "utf-8"

    def __init__(self, name: str, outputs: Outputs) -> None:
        self._name = name
        self._outputs = outputs

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._outputs.text(self._name, str.__str__(text))  # of a subclass, its plain text
        return len(text)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def flush(self) -> None:
        pass

    def fileno(self) -> int:
        raise io.UnsupportedOperation("fileno")

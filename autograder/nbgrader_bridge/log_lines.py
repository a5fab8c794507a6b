"""What nbgrader logs: students' names and files stand in it, and a terminal obeys what those hold."""

from __future__ import annotations

import logging


class PlainRecord(logging.LogRecord):
    """A line of a log whose characters all show; line ends and tabs stay."""

    def getMessage(self) -> str:
        text = super().getMessage()
        if text.isprintable():
            return text
        return "".join(char if char.isprintable() or char in "\n\t" else "?" for char in text)


def make_plain() -> None:
    """Let every log of this process be written so: nbgrader's programs add handlers of their own later."""
    if logging.getLogRecordFactory() is logging.LogRecord:
        logging.setLogRecordFactory(PlainRecord)

"""Which assignment a notebook answers, told by the grade_ids of its cells and not by its name."""

from __future__ import annotations

from pathlib import Path

from autograder.grading.reading import read_notebook


class Recogniser:
    """The grade_ids of each assignment of a course."""

    def __init__(self, root: Path, assignments: list[str]) -> None:
        self._ids: dict[str, set[str]] = {}
        for assignment in assignments:
            found: set[str] = set()
            for path in (root / "source" / assignment).glob("*.ipynb"):
                found |= _ids(path.read_bytes())
            self._ids[assignment] = found

    def shared(self, data: bytes) -> dict[str, int]:
        """How many cells of each assignment a notebook has; assignments without any are left out."""
        ids = _ids(data)
        counts = {assignment: len(ids & known) for assignment, known in self._ids.items()}
        return {assignment: count for assignment, count in counts.items() if count}


def looks_like_one(path: str, data: bytes) -> bool:
    """Whether a file is a notebook, whatever it is called."""
    if path.lower().endswith(".ipynb"):
        return True
    head = data[:200].lstrip(b"\xef\xbb\xbf \r\n\t")
    return head.startswith(b"{") and b'"cells"' in data and b'"nbformat"' in data


def _ids(data: bytes) -> set[str]:
    cells, _ = read_notebook(data)
    return {cell.grade_id for cell in cells if cell.grade_id}

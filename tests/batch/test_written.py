from __future__ import annotations

from pathlib import Path

import pytest

from autograder.batch.written import Written


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    path = tmp_path / "autograded" / "ada" / "ps" / "toy.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text("graded")
    return path


def test_only_what_was_written_is_written(tmp_path: Path, graded: Path) -> None:
    written = Written(tmp_path, "ps", "toy")
    assert not written.holds("ada", "k", None)
    assert written.key("ada") is None
    written.note("ada", "k", None)
    assert written.holds("ada", "k", None)
    assert written.key("ada") == "k"
    assert not written.holds("ada", "other", None)
    assert not written.holds("ada", "k", "2026-10-05 12:00:00 UTC")
    assert not written.holds("bao", "k", None)
    assert not Written(tmp_path, "other", "toy").holds("ada", "k", None)
    written.forget("ada")
    assert not written.holds("ada", "k", None)


def test_a_graded_notebook_that_is_gone_or_changed_is_written_again(tmp_path: Path, graded: Path) -> None:
    written = Written(tmp_path, "ps", "toy")
    written.note("ada", "k", None)
    graded.write_text("changed by hand")
    assert not written.holds("ada", "k", None)
    graded.unlink()
    assert not written.holds("ada", "k", None)
    written.note("ada", "k", None)  # nothing to vouch for
    assert not written.holds("ada", "k", None)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"key": "k"}', "null"])
def test_a_spoiled_mark_is_none(tmp_path: Path, graded: Path, text: str) -> None:
    written = Written(tmp_path, "ps", "toy")
    written.note("ada", "k", None)
    (tmp_path / ".deepdrills" / "written" / "ps" / "ada").write_text(text)
    assert not written.holds("ada", "k", None)
    assert written.key("ada") is None

from __future__ import annotations

import os
import stat
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.errors import UsageError
from autograder.grading.secret import FOLDER, VARIABLE, course_secret, generator


@pytest.fixture(autouse=True)
def _no_secret_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def drawn(secret: str, *names: str) -> list[int]:
    return [int(one) for one in generator(secret, *names).integers(0, 2**62, 4)]


def test_a_new_secret_is_kept_for_the_owner_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        fresh = course_secret(tmp_path, create=True)
    finally:
        os.umask(old)
    path = tmp_path / FOLDER / "secret"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert len(fresh) == 64
    assert [one.name for one in path.parent.iterdir()] == ["secret"]


def test_the_secret_stays_the_same(tmp_path: Path) -> None:
    fresh = course_secret(tmp_path, create=True)
    assert course_secret(tmp_path, create=True) == fresh
    assert course_secret(tmp_path, create=False) == fresh


def test_two_courses_have_two_secrets(tmp_path: Path) -> None:
    assert course_secret(tmp_path / "a", create=True) != course_secret(tmp_path / "b", create=True)


def test_a_passing_secret_is_written_nowhere(tmp_path: Path) -> None:
    one, other = course_secret(tmp_path, create=False), course_secret(tmp_path, create=False)
    assert one
    assert one != other
    assert list(tmp_path.iterdir()) == []


def test_the_environment_wins_and_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = course_secret(tmp_path / "a", create=True)
    monkeypatch.setenv(VARIABLE, "from outside")
    assert course_secret(tmp_path / "a", create=True) == "from outside"
    assert course_secret(tmp_path / "b", create=True) == "from outside"
    assert not (tmp_path / "b").exists()
    monkeypatch.setenv(VARIABLE, "")
    assert course_secret(tmp_path / "a", create=True) == kept


def test_of_two_processes_that_make_it_at_once_one_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.link

    def late(name: str, path: Path) -> None:
        monkeypatch.setattr(os, "link", real)
        (path.parent / "other").write_text("theirs\n")
        real(path.parent / "other", path)
        real(name, path)

    monkeypatch.setattr(os, "link", late)
    assert course_secret(tmp_path, create=True) == "theirs"
    assert course_secret(tmp_path, create=False) == "theirs"


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize(
    ("data", "words"), [(b"", "is empty"), (b" \n", "is empty"), (b"\xff\xfe", "cannot be read")]
)
def test_a_spoiled_secret_is_never_replaced_in_silence(
    tmp_path: Path, data: bytes, words: str, create: bool
) -> None:
    path = tmp_path / FOLDER / "secret"
    path.parent.mkdir()
    path.write_bytes(data)
    with pytest.raises(UsageError, match=words) as caught:
        course_secret(tmp_path, create=create)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == data


def test_a_folder_in_its_place_is_named(tmp_path: Path) -> None:
    (tmp_path / FOLDER / "secret").mkdir(parents=True)
    with pytest.raises(UsageError, match="cannot be read"):
        course_secret(tmp_path, create=True)


def test_equal_names_draw_equal_inputs_whatever_was_drawn_before() -> None:
    np.random.default_rng().random()
    assert drawn("s", "ps1", "output_size", "stride") == drawn("s", "ps1", "output_size", "stride")


names = st.text(alphabet=st.characters(blacklist_categories=["Cs", "Cc"]), max_size=6)


@settings(deadline=None)
@given(st.lists(names, min_size=1, max_size=4), st.lists(names, min_size=1, max_size=4))
def test_other_names_draw_other_inputs(one: list[str], other: list[str]) -> None:
    assert (drawn(*one) == drawn(*other)) is (one == other)

from __future__ import annotations

import os
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from autograder.collect import files
from autograder.collect.files import Download, Unreadable, open_download, open_inner
from autograder.errors import UsageError

from .downloads import NIGHT, add_link, encrypt_flag, make_zip


def read(path: Path) -> Download:
    with open_download(path, ZoneInfo("Europe/Berlin")) as download:
        for found in download.files:
            found.read()
        return download


def refusals(download: Download) -> dict[str, str]:
    return dict(download.refused)


def test_a_zip_gives_its_files_and_local_times_as_utc(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip", {"ada.ipynb": b"1", "no.txt": b""}, {"ada.ipynb": NIGHT})
    with open_download(path, ZoneInfo("Europe/Berlin")) as download:
        assert [(one.path, one.when, one.read()) for one in download.files] == [
            ("ada.ipynb", datetime(2026, 10, 5, 21, 30, tzinfo=UTC), b"1"),
            ("no.txt", datetime(2026, 10, 7, 7, 0, tzinfo=UTC), b""),
        ]


def test_a_time_in_utc_wins_over_the_local_one(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        entry = zipfile.ZipInfo("ada.ipynb", NIGHT)
        entry.extra = b"UT\x05\x00\x01" + int(datetime(2026, 1, 2, tzinfo=UTC).timestamp()).to_bytes(
            4, "little"
        )
        archive.writestr(entry, b"")
    assert read(tmp_path / "a.zip").files[0].when == datetime(2026, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../evil.ipynb", "points out of the download"),
        ("/etc/evil.ipynb", "points out of the download"),
        ("C:/evil.ipynb", "points out of the download"),
        ("a/../../evil.ipynb", "points out of the download"),
        ("..\\evil.ipynb", "points out of the download"),
        ("line\nbreak.ipynb", "characters that do not show"),
        ("turn\u202e.ipynb", "characters that do not show"),
        ("\x1b[31mred.ipynb", "characters that do not show"),
        ("x" * 300, "too long"),
    ],
)
def test_a_name_that_misleads_is_refused(tmp_path: Path, name: str, words: str) -> None:
    download = read(make_zip(tmp_path / "a.zip", {name: b"1", "ada.ipynb": b"1"}))
    assert [found.path for found in download.files] == ["ada.ipynb"]
    ((_, why),) = download.refused
    assert words in why


def test_links_and_encrypted_files_are_refused_by_name(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip", {"locked.ipynb": b"1", "ada.ipynb": b"1"})
    add_link(path, "link.ipynb", "/etc/passwd")
    encrypt_flag(path, "locked.ipynb")
    download = read(path)
    assert [found.path for found in download.files] == ["ada.ipynb"]
    assert "is a link" in refusals(download)["link.ipynb"]
    assert "is encrypted" in refusals(download)["locked.ipynb"]


def test_the_computers_own_files_are_no_work(tmp_path: Path) -> None:
    names = ["__MACOSX/ada/._x.ipynb", "ada/.ipynb_checkpoints/x.ipynb", "ada/.DS_Store", "ada/._x.ipynb"]
    download = read(make_zip(tmp_path / "a.zip", dict.fromkeys(names, b"")))
    assert download.files == []
    assert sorted(path for path, _ in download.ignored) == sorted(names)


@pytest.mark.parametrize("cut", [0.3, 0.9])
def test_a_zip_that_was_cut_off_is_refused_with_what_to_do(tmp_path: Path, cut: float) -> None:
    path = make_zip(tmp_path / "a.zip", {"ada.ipynb": os.urandom(2000), "bao.ipynb": os.urandom(2000)})
    data = path.read_bytes()
    path.write_bytes(data[: int(cut * len(data))])
    with pytest.raises(UsageError, match=r"a\.zip: it is no folder and no whole zip.*Give the zip"):
        read(path)


def test_a_damaged_file_in_a_whole_zip_is_said_when_it_is_read(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip", {"ada.ipynb": os.urandom(2000)})
    data = bytearray(path.read_bytes())
    data[500:520] = bytes(20)
    path.write_bytes(bytes(data))
    with pytest.raises(Unreadable, match="damaged in the zip"):
        read(path)


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "FILE_LIMIT", 1000)
    path = make_zip(tmp_path / "a.zip", {"bomb.ipynb": bytes(1001), "ada.ipynb": bytes(1000)})
    with open_download(path, UTC) as download:
        bomb, ada = download.files
        assert len(ada.read()) == 1000
        with pytest.raises(Unreadable, match="larger than"):
            bomb.read()


def test_a_zip_with_too_many_files_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_FILES", 2)
    download = read(make_zip(tmp_path / "a.zip", {f"{n}.ipynb": b"" for n in range(4)}))
    assert len(download.files) == 2
    assert all("more than 2 files" in why for why in refusals(download).values())
    assert len(download.refused) == 2


def test_a_zip_inside_is_opened_once_and_no_deeper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deepest = make_zip(tmp_path / "3.zip", {"x.ipynb": b"1"}).read_bytes()
    inner = make_zip(tmp_path / "2.zip", {"y.ipynb": b"12", "3.zip": deepest, "z.ipynb": b"34"}).read_bytes()
    path = make_zip(tmp_path / "1.zip", {"ada.zip": inner, "bao.zip": b"no zip"})
    with open_download(path, UTC) as download:
        ada, bao = download.files
        opened = open_inner(ada, UTC)
        assert [found.path for found in opened.files] == ["y.ipynb", "z.ipynb"]
        assert "a zip inside a zip" in refusals(opened)["3.zip"]
        with pytest.raises(Unreadable, match="the zip cannot be read"):
            open_inner(bao, UTC)
        monkeypatch.setattr(files, "_INNER_LIMIT", 3)
        opened = open_inner(ada, UTC)
        assert opened.files[0].read() == b"12"
        with pytest.raises(Unreadable, match="unpacks to more than"):
            opened.files[1].read()


def test_a_folder_gives_regular_files_only(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "ada").mkdir(parents=True)
    (folder / "ada" / "x.ipynb").write_bytes(b"1")
    (folder / "ada" / "link.ipynb").symlink_to("/etc/passwd")
    (folder / "out").symlink_to("/etc")
    os.mkfifo(folder / "pipe.ipynb")
    (folder / "line\nbreak").write_bytes(b"")
    os.utime(folder / "ada" / "x.ipynb", (1_000_000_000, 1_000_000_000))
    download = read(folder)
    (found,) = download.files
    assert (found.path, found.when) == ("ada/x.ipynb", datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC))
    assert sorted(refusals(download)) == ["ada/link.ipynb", "line\nbreak", "out", "pipe.ipynb"]


def test_what_is_neither_a_zip_nor_a_folder_is_a_wrong_use(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_text("no zip")
    for path, words in ((tmp_path / "a.zip", "no whole zip file"), (tmp_path / "no", "no such file")):
        with pytest.raises(UsageError, match=words):
            read(path)

"""The images of ps3: real photographs when they can be had, the embedded ones otherwise."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pooch
import pytest
import torch

NOTEBOOK = Path(__file__).parents[2] / "source" / "ps3-depth" / "depth.ipynb"


@pytest.fixture(scope="module")
def cell() -> str:
    """The notebook's cell that makes the images."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    found = [one.source for one in notebook.cells if one.get("id") == "train-data"]
    return str(found[0])


def run(cell: str) -> dict[str, Any]:
    names: dict[str, Any] = {"np": np, "torch": torch, "os": os}
    exec(compile(cell, "train_data", "exec"), names)
    return names


def archive(path: Path) -> Path:
    """Six files as CIFAR-10 has them: a byte of label, then the planes red, green and blue."""
    with tarfile.open(path, "w:gz") as tar:
        for name in [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]:
            labels = np.repeat(np.arange(10, dtype=np.uint8), 210)
            rows = np.zeros((len(labels), 3073), np.uint8)
            rows[:, 0] = labels
            rows[:, 1 : 1 + 1024] = 20 * labels[:, None]  # red says the class
            rows[:, 1 + 2048 :] = 7
            rows[:, 1 + 2048 + 31] = 9  # blue, the last pixel of the first line
            data = rows.tobytes()
            member = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return path


def test_five_classes_are_drawn_from_the_archive(
    cell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: dict[str, Any] = {}

    def retrieve(url: str, **options: Any) -> str:
        asked.update(options)
        return str(archive(tmp_path / "cifar.tar.gz"))

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    monkeypatch.setenv("DATA", "cifar10")
    names = run(cell)
    assert asked["known_hash"].startswith("md5:")
    images, labels, test_images, test_labels = names["images"]
    assert images.shape == (5000, 32, 32, 3)
    assert test_images.shape == (1000, 32, 32, 3)
    assert np.bincount(labels).tolist() == [1000] * 5
    assert np.bincount(test_labels).tolist() == [200] * 5
    assert (images[..., 0] == 20 * labels[:, None, None]).all()
    assert (images[:, 0, 31, 2] == 9).all()
    assert (images[:, 31, 0, 2] == 7).all()
    assert names["X_train"].shape == (5000, 3, 32, 32)
    assert "cifar10: 5000 training and 1000 test images" in capsys.readouterr().out


@pytest.mark.parametrize(
    "error", [ConnectionError("no route"), ValueError("MD5 hash of downloaded file does not match")]
)
def test_without_them_the_embedded_images_are_used_and_it_is_said(
    cell: str, error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def retrieve(url: str, **options: Any) -> str:
        raise error

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    monkeypatch.setenv("DATA", "cifar10")
    names = run(cell)
    said = capsys.readouterr().out
    assert str(error) in said
    assert "The embedded images are used instead" in said
    assert names["DATA"] == "textures"
    assert len(names["y_train"]) == 2500


def test_another_name_of_the_data_is_refused(cell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATA", "mnist")
    with pytest.raises(ValueError, match="'textures' or 'cifar10'"):
        run(cell)

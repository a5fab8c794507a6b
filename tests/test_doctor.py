from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from autograder import doctor
from autograder.errors import SandboxError
from autograder.sandbox.confine import LAYERS
from autograder.sandbox.proof import LayerProof, Proof

HELD = tuple(LayerProof(layer, "trying it", True) for layer in LAYERS)


def examined(monkeypatch: pytest.MonkeyPatch, proof: Proof | SandboxError) -> tuple[int, str]:
    """The exit code and what is printed when the sandbox's proof is this one."""

    def prove(course: Path) -> Proof:
        if isinstance(proof, SandboxError):
            raise proof
        return proof

    monkeypatch.setattr(doctor, "prove", prove)
    console = Console(file=StringIO(), width=140)
    code = doctor.examine(Path.cwd(), console)
    return code, console.file.getvalue()  # type: ignore[attr-defined]


def line(text: str, what: str) -> str:
    return next(one for one in text.splitlines() if what in one)


def test_a_fit_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    code, text = examined(monkeypatch, Proof(HELD, 1))
    for what in ("python", "torch", "nbgrader", "alembic", *(f"sandbox: {layer}" for layer in LAYERS)):
        assert line(text, what).rstrip(" │").endswith("yes"), what
    assert code == 0
    assert "This machine can grade, with every layer of the sandbox." in text


@pytest.mark.parametrize(("held", "word"), [(False, "NOT STOPPED"), (None, "missing")])
def test_a_layer_that_does_not_hold_is_named(
    monkeypatch: pytest.MonkeyPatch, held: bool | None, word: str
) -> None:
    spoiled = LayerProof("landlock", "writing elsewhere", held, "the [kernel] is too old")
    proof = Proof(tuple(spoiled if one.layer == "landlock" else one for one in HELD), 1)
    code, text = examined(monkeypatch, proof)
    assert code == 1
    found = line(text, "sandbox: landlock")
    assert f"writing elsewhere: {word} (the [kernel] is too old)" in found
    assert found.rstrip(" │").endswith("no")
    assert "see the lines marked 'no'" in text


def test_more_than_one_thread_is_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    code, text = examined(monkeypatch, Proof(HELD, 2))
    assert code == 1
    assert line(text, "torch threads").rstrip(" │").endswith("no")


def test_a_sandbox_that_does_not_start_is_a_line_and_not_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    code, text = examined(monkeypatch, SandboxError("the interpreter did not start"))
    assert code == 1
    assert "the interpreter did not start" in text


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PACKAGES", ("torch", "nothing-of-that-name"))
    code, text = examined(monkeypatch, Proof(HELD, 1))
    assert code == 1
    assert "not installed" in line(text, "nothing-of-that-name")


def test_alembic_is_found_without_a_path_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    code, text = examined(monkeypatch, Proof(HELD, 1))
    assert code == 0
    assert "bin/alembic" in text.replace("\n", "")

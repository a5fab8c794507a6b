"""Every layer holds when it is tried, and a missing one stops grading with its name."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import MissingLayerError
from autograder.sandbox import protocol
from autograder.sandbox.confine import LAYERS
from autograder.sandbox.process import Sandbox
from autograder.sandbox.proof import Proof, prove

from .conftest import LIMITS, ROOT


@pytest.fixture(scope="module")
def proof(course: Path) -> Proof:
    return prove(course, LIMITS)


def test_all_layers_are_proven(proof: Proof) -> None:
    assert tuple(one.layer for one in proof.layers) == LAYERS
    assert proof.torch_threads == 1
    assert proof.holds


@pytest.mark.parametrize("layer", LAYERS)
def test_layer_holds(layer: str, proof: Proof) -> None:
    (found,) = (one for one in proof.layers if one.layer == layer)
    assert found.held is True, found


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Make the next submission report that it lacks a layer."""

    def lack(layer: str) -> None:
        real = protocol.receive

        def receive(*arguments: Any) -> Any:
            message = real(*arguments)
            if isinstance(message, dict) and "layers" in message:
                message["layers"].remove(layer)
                message["reasons"][layer] = "not on this kernel"
            return message

        monkeypatch.setattr("autograder.sandbox.process.protocol.receive", receive)

    return lack


@pytest.mark.parametrize("layer", LAYERS)
def test_a_missing_layer_stops_grading(
    layer: str, sandbox: Sandbox, without: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    without(layer)
    with pytest.raises(
        MissingLayerError, match=rf"{layer} \(not on this kernel\).*--allow-degraded"
    ) as error:
        sandbox.spawn()
    assert layer not in error.value.reached
    monkeypatch.setattr(sandbox, "_allow_degraded", True)
    session = sandbox.spawn()
    assert layer not in session.layers
    assert session.reasons[layer] == "not on this kernel"
    session.close()


_WITHOUT_NAMESPACES = """
import sys
from pathlib import Path
from autograder.errors import MissingLayerError
from autograder.sandbox import seccomp
from autograder.sandbox.limits import Limits
from autograder.sandbox.process import Sandbox

seccomp.install()  # a machine on which no namespace and no mount can be had
with Sandbox(Limits(), hidden=[Path(sys.argv[1])]) as sandbox:
    try:
        sandbox.spawn()
    except MissingLayerError as error:
        assert {one.split(" (")[0] for one in error.missing} == {
            "pid namespace", "mount namespace", "network namespace", "ipc namespace"
        }, error.missing
    else:
        raise AssertionError("a layer was missing and nothing was said")
with Sandbox(Limits(), hidden=[Path(sys.argv[1])], allow_degraded=True) as sandbox:
    session = sandbox.spawn()
    assert set(session.layers) == {"session", "privileges", "limits", "landlock", "seccomp"}, session.layers
    session.run_cell("import numpy as np\\ndef f(x):\\n    return np.sum(x)", 10, "f")
    assert session.call("f", "f", ([1, 2],), {}, 5) == 3
    reply = session.run_cell(f"print(open({sys.argv[1] + '/gradebook.db'!r}).read())", 10)
    assert reply["failure"]["kinds"][0] == "PermissionError", reply
    reply = session.run_cell("import autograder", 10)
    assert "ModuleNotFoundError" in reply["failure"]["kinds"], reply
    session.close()
"""


def test_a_machine_without_namespaces(course: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_NAMESPACES, str(course)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr

"""A real Dask cluster on this machine: a scheduler's process and workers' processes, started as people do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


class LocalDask:
    """Use as a context manager: every process is ended with it."""

    def __init__(self, folder: Path, hidden: Path) -> None:
        """`hidden`: a folder that workers do not see, as on another machine (where we are root)."""
        self._folder = folder
        self._hidden = hidden
        self._processes: list[subprocess.Popen[bytes]] = []
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        self.address = ""

    def __enter__(self) -> LocalDask:
        file = self._folder / "scheduler.json"
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
        self._start([sys.executable, "-m", "distributed.cli.dask_scheduler", *options], "scheduler")
        deadline = time.monotonic() + 120
        while not self.address:
            assert time.monotonic() < deadline, (self._folder / "scheduler.log").read_text()
            if file.exists() and file.read_text().strip():
                self.address = json.loads(file.read_text())["address"]
            time.sleep(0.1)
        return self

    def __exit__(self, *_exc: object) -> None:
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()

    def worker(self, name: str) -> None:
        command = [sys.executable, "-m", "distributed.cli.dask_worker", self.address]
        command += ["--name", name, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]
        command += ["--local-directory", str(self._folder)]
        if os.geteuid() == 0:
            hide = f'mount -t tmpfs none "{self._hidden}" && exec "$@"'
            command = ["unshare", "--mount", "sh", "-c", hide, "sh", *command]
        self.workers[name] = self._start(command, name)

    def log(self, name: str) -> str:
        return (self._folder / f"{name}.log").read_text()

    def _start(self, command: Sequence[str], name: str) -> subprocess.Popen[bytes]:
        with open(self._folder / f"{name}.log", "wb") as log:
            process = subprocess.Popen(
                command,
                cwd=self._folder,
                env={**os.environ, "PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._processes.append(process)
        return process

"""The limits of a submission and their defaults: the one place where they are written."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """What a submission may use. Times are wall seconds unless a name says CPU; sizes are bytes."""

    cell_seconds: float = 30.0
    call_seconds: float = 5.0
    submission_seconds: float = 180.0
    #: A spot check of an experiment, and a whole experiment when experiments are run again.
    rerun_seconds: float = 30.0
    experiment_seconds: float = 300.0
    cpu_seconds: int = 240
    #: Private memory of one process (RLIMIT_DATA), and resident memory of the whole sandbox.
    memory: int = 2048 * MIB
    processes: int = 64
    #: One file, and the whole working folder.
    file_size: int = 64 * MIB
    folder_size: int = 256 * MIB
    #: What one cell may print or draw before the rest is cut, and what the notebook may keep.
    output_size: int = MIB
    notebook_output_size: int = 16 * MIB
    #: One answer to a call.
    reply_size: int = 64 * MIB
    #: New forks after crashes before the rest of a submission is given up.
    restarts: int = 12

    def for_experiments(self) -> Limits:
        """The limits of a submission whose experiments are run again."""
        return replace(
            self,
            submission_seconds=self.submission_seconds + 2 * self.experiment_seconds,
            cpu_seconds=self.cpu_seconds + int(2 * self.experiment_seconds),
        )

    def to_json(self) -> dict[str, float | int]:
        return asdict(self)

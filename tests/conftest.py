"""One thread for torch in every test process: two workers with two each would fight for two cores."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

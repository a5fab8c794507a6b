"""The submissions that are left to grade, and what is done with a result: the client's side of a cluster."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.batch.course import Course, Grader, Options
from autograder.batch.folder import Handed, read_folder, said_of
from autograder.batch.local import Done
from autograder.batch.plan import Job
from autograder.batch.store import for_student
from autograder.errors import DeepdrillsError
from autograder.grading.graded import Graded
from autograder.grading.secret import course_secret
from autograder.results import Outcome


@dataclass
class Task:
    """A submission that is not in the store: whose, what was handed in, and how often it was lost."""

    student: str
    handed: Handed
    key: str
    losses: int = 0


class Desk:
    """The jobs that are left. Submissions are read when their turn comes, so that memory stays flat."""

    def __init__(
        self, course: Course, assignment: str, jobs: list[Job], options: Options, force: bool
    ) -> None:
        self.secret = course_secret(course.root, create=True)
        self._grader = Grader(course, assignment, options, self.secret)
        self._store = course.store
        self._force = force
        self._jobs = deque(jobs)
        self._ready: deque[Task] = deque()

    def __len__(self) -> int:
        return len(self._jobs) + len(self._ready)

    @property
    def empty(self) -> bool:
        return not len(self)

    def settled(self) -> Iterator[Done]:
        """Ends of the next jobs that need no worker, up to the first that does."""
        while self._jobs and not self._ready:
            job = self._jobs.popleft()
            try:
                handed = read_folder(Path(job.folder), self._grader.template.notebook)
                key = self._grader.key(self._grader.submission(handed))
                known = None if self._force else self._store.get(key)
            except DeepdrillsError:
                raise
            except Exception as error:  # an error of ours stops this submission and no other
                yield Done(job.student, None, trouble=(said_of(error),))
                continue
            if known is None:
                self._ready.append(Task(job.student, handed, key))
            else:
                mine = for_student(known, job.student, 0.0)
                yield Done(job.student, mine.report, key, mine.trouble)

    def take(self) -> Task | None:
        return self._ready.popleft() if self._ready else None

    def give_back(self, task: Task) -> None:
        self._ready.appendleft(task)

    def done(self, task: Task, graded: Graded) -> Done:
        """Keep a result as a local worker would: an error of ours is never stored."""
        if graded.report.outcome is not Outcome.ERROR:
            self._store.put(task.key, graded)
        return Done(task.student, graded.report, task.key, graded.trouble)

"""The exporter of `nbgrader autograde`: it reads no byte that a student wrote.

nbgrader calls it twice for a notebook: on the file under submitted/, which `GradeSubmission`
reads for itself, and on the file under autograded/, which we wrote.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import v4
from nbgrader.converters import Autograde

from autograder.batch.staging import course_files
from autograder.nbgrader_bridge.copying import refused_names
from autograder.nbgrader_bridge.obstacles import guard


class SubmissionExporter(NotebookExporter):
    """Hands an empty notebook to the sanitising preprocessors, whatever the file holds."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)  # type: ignore[no-untyped-call]
        self._ignore: list[str] = []
        self._course_hook: Callable[..., None] | None = None
        if isinstance(self.parent, Autograde):
            self._ignore = list(self.parent.coursedir.ignore)
            self._course_hook = self.parent.pre_convert_hook
            self.parent.pre_convert_hook = self._before_copying
            if type(self.parent) is Autograde:  # ours sees to it itself
                guard(self.parent)

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[Any, dict[str, Any]]:
        if not isinstance(self.parent, Autograde) or not self.parent._sanitizing:
            return super().from_filename(filename, resources=resources, **kw)
        resources = ResourcesDict() if resources is None else resources
        path, name = os.path.split(filename)
        resources["metadata"] = ResourcesDict(name=os.path.splitext(name)[0], path=path)
        return self.from_notebook_node(v4.new_notebook(), resources=resources, **kw)

    def _before_copying(self, *, assignment: str, student: str, notebooks: list[str]) -> None:
        """nbgrader's hook before it copies a submission: keep links and devices out of the copy.

        nbgrader carries on when a hook fails, so everything is refused until the folder is read.
        """
        course = self.parent.coursedir  # type: ignore[union-attr]
        course.ignore = ["*"]
        folders = {Path(notebook).parent for notebook in notebooks}
        own = course_files(Path(course.root), assignment)
        refused = [name for folder in sorted(folders) for name in refused_names(folder, own)]
        for name in refused:
            self.log.warning(
                "Not copied from the submission, for it is no plain file or is in the way of one: %s", name
            )
        course.ignore = [*self._ignore, *refused]
        if self._course_hook:
            self._course_hook(assignment=assignment, student=student, notebooks=notebooks)

    def from_notebook_node(
        self, nb: Any, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[Any, dict[str, Any]]:
        if isinstance(self.parent, Autograde):
            self.parent.coursedir.ignore = list(self._ignore)
        return super().from_notebook_node(nb, resources, **kw)  # type: ignore[no-any-return, no-untyped-call]

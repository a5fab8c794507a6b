"""The exporter of `nbgrader generate_feedback`: one page that stands alone and runs nothing.

It shares nothing with nbconvert's HTML exporter, whose templates load scripts and whose settings
belong to the formgrader.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from nbconvert.exporters import Exporter
from nbformat import NotebookNode
from nbgrader.converters import GenerateFeedback

from autograder.nbgrader_bridge.code_html import code_css
from autograder.nbgrader_bridge.copying import names_without_feedback
from autograder.nbgrader_bridge.feedback_page import Page, feedback_page
from autograder.nbgrader_bridge.obstacles import guard

TEMPLATES = Path(__file__).parent / "templates" / "deepdrills"


class FeedbackExporter(Exporter):
    """Writes the feedback page of a notebook that `GetMarks` has filled in."""

    output_mimetype = "text/html"

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("file_extension", ".html")
        super().__init__(**kwargs)  # type: ignore[no-untyped-call]
        self._course_hook: Callable[..., None] | None = None
        if isinstance(self.parent, GenerateFeedback):
            self._ignore = list(self.parent.coursedir.ignore)
            self._course_hook = self.parent.pre_convert_hook
            self.parent.pre_convert_hook = self._before_copying
            if type(self.parent) is GenerateFeedback:  # ours sees to it itself
                guard(self.parent)

    def _before_copying(self, *, assignment: str, student: str, notebooks: list[str]) -> None:
        """nbgrader's hook before it copies what a student handed in to where the page is to be.

        nbgrader carries on when a hook fails, so everything is refused until the folder is read.
        """
        course = self.parent.coursedir  # type: ignore[union-attr]
        course.ignore = ["*"]
        folders = {Path(notebook).parent for notebook in notebooks}
        course.ignore = [*self._ignore, *(one for path in folders for one in names_without_feedback(path))]
        if self._course_hook:
            self._course_hook(assignment=assignment, student=student, notebooks=notebooks)

    def from_notebook_node(  # type: ignore[override]  # as HTML exporters do, it gives text
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        notebook, resources = super().from_notebook_node(nb, resources, **kw)
        course = getattr(getattr(self.parent, "coursedir", None), "course_id", "")
        return render(feedback_page(notebook, resources["nbgrader"], course)), resources


def render(page: Page) -> str:
    """The page as HTML. What is not already `Markup` is escaped."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = (TEMPLATES / "page.css").read_text(encoding="utf-8")
    return environment.get_template("index.html.j2").render(page=page, css=Markup(style + code_css()))

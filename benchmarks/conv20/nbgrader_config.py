"""The benchmark's course: one assignment whose students' code takes a third of a second."""

from autograder.nbgrader_bridge.settings import configure

c = get_config()  # noqa: F821  (nbgrader defines it when it runs this file)
configure(c)

"""Autograder of the deepdrills course: no verdict is computed where student code runs."""

__version__ = "0.1.0"

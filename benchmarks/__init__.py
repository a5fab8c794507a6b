"""Measurements of the grading machine; each module but `courses`, `measure` and `in_kernel` is a command."""

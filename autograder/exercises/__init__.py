"""Exercises as data, and what counts as the same answer. Knows no sandbox and no suite."""

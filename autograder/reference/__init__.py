"""Pure oracles, one topic a file: slow, obvious, and knowing nothing of the rest."""

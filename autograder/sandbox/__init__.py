"""The sandbox: what runs in a student's process, and the trusted handle on it."""

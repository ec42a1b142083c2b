"""A day of the archive: its file, writing commits to it, and reading it."""

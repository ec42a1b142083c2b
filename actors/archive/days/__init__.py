"""A day of the archive: its file, how a commit is written to it, and how it is read."""

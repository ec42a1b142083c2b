"""The past of the board on disk: a file a day, versions that never mean two things, restarts."""

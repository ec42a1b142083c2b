"""The past of the board on disk: one file a day, unambiguous versions, and restarts."""

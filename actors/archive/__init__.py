"""What was shown, kept on disk: a file a day, versions that never mean two things, restarts."""

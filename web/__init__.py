"""The HTTP front end: answers from the published snapshot, and the command line."""

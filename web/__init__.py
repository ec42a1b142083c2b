"""The HTTP front end, which serves published snapshots to clients, and the command line."""

"""The command line: what it asks a running service, and what it runs itself."""

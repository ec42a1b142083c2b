"""The command line: commands that run a service or a tool, and commands that ask a running service."""

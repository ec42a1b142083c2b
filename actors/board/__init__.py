"""The package actors.board."""

"""Rules about the board: what each watches, when it fires, and what its alerts say."""

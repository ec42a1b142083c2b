"""The fixtures of the other markets than 1X2: one for each market of a match that somebody lists."""

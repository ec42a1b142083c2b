"""The fixtures of markets other than 1X2: one for each market of a match that any bookmaker lists."""

"""`oddsboard get` and `oddsboard watch`: what the Python client has, on a terminal."""

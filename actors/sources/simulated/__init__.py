"""A simulated world of football: invented teams and prices from a seed, computed by a state machine."""

"""A simulated world of football: a state machine computes invented teams and prices from a seed."""

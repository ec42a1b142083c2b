"""What can be bet on: markets, their outcomes, and what a bet returns."""

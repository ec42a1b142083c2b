"""Markets, their outcomes, and the returns of bets on them."""

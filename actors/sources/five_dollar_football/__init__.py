"""5DollarFootballAPI: Bet365 and nineteen more bookmakers for football; a key, polled within its rate."""

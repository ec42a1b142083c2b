"""5DollarFootballAPI: Bet365 and nineteen other bookmakers, polled within the rate of a key."""

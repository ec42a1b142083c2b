"""The Odds API: JSON answers by league with dozens of bookmakers, polled within a budget of credits."""

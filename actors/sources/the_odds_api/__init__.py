"""The Odds API: JSON by league with dozens of bookmakers, polled within a budget of credits."""

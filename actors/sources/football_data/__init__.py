"""football-data.co.uk: a polled CSV file of upcoming matches, with the prices of many bookmakers."""

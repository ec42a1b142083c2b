"""football-data.co.uk: a CSV file of upcoming matches with the prices of many bookmakers, polled."""

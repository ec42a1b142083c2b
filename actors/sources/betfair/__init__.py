"""The Betfair Exchange: its stream of markets, and the HTTP requests beside it."""

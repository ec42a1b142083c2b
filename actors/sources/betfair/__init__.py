"""The Betfair Exchange: its stream of markets, with the requests over HTTP that go with it."""

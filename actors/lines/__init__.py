"""Price movement: the line of an entry, past consensus, closing prices, moves."""

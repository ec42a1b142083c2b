"""How prices moved: the line of an entry, the consensus of the past, closing prices, moves."""

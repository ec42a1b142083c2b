"""How prices moved: the line of an entry, the consensus of the past, and what the closing prices were."""

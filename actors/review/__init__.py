"""Review: what the operator says of links, and asks about them."""

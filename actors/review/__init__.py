"""Review: the operator's decisions and questions about links."""

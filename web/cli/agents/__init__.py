"""`oddsboard mcp`: a server of the Model Context Protocol, whose tools agents call (docs/agents.md)."""

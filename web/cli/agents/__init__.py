"""`oddsboard mcp`: the tools of a program that speaks the Model Context Protocol (docs/agents.md)."""

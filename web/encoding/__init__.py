"""A chunk of the board as bytes: JSON of both versions, and that deflated."""

"""A chunk of the board as bytes: JSON of both versions, deflated segments, joined checksums.

Feeds and endpoints import it.
It must not know HTTP, clients or the loop.
"""

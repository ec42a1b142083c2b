"""HTTP without odds: problem documents, negotiation, query strings, headers, the path before Quart.

All other packages of the web may import it.
It must not know the board.
"""

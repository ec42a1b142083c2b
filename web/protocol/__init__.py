"""HTTP without odds: problem documents, negotiation, query strings, prepared answers, Quart's set-up.

All other packages of the web may import it.
It must not know the board.
"""

"""What the tests' HTTP clients share: one TLS context, which plain HTTP never uses.

Without it each client loads all certificates of the system, which takes longer than most tests.
"""

from __future__ import annotations

import ssl

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

"""The TLS context that all HTTP clients of the tests share, although plain HTTP never uses it.

Without it each client loads all certificates of the system, which takes longer than most tests.
"""

from __future__ import annotations

import ssl

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

"""The errors of the client.

OddsboardError
    UnsupportedError        the service has no such path, or no such parameter of it
    AnsweredError           the service refused: `status`, `code`, `detail`
    UnavailableError        the service could not be reached, or did not answer properly, in all attempts
"""

from __future__ import annotations


class OddsboardError(Exception):
    """An error of this client."""


class UnsupportedError(OddsboardError):
    """The service does not have the path, or the parameter; its capabilities say so."""


class AnsweredError(OddsboardError):
    """The service refused the request, and a repetition would not help."""

    def __init__(self, path: str, status: int, code: str, detail: str) -> None:
        super().__init__(f"{path}: {status} {code}: {detail}")
        self.status, self.code, self.detail = status, code, detail


class UnavailableError(OddsboardError):
    """No proper answer in all attempts; the message has the last reason."""

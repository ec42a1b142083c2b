"""Helpers for tests of a page: open further pages, and collect the errors that the browser reports."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from playwright.sync_api import BrowserContext, ConsoleMessage, Error

OpenContext = Callable[..., BrowserContext]

OWN_STREAM = "delete window.SharedWorker;"
"""A page then has a stream of its own, as where a browser has no such workers: a test can reach it."""
CATCH_THE_SOURCE = f"""
{OWN_STREAM}
window.EventSource = class extends EventSource {{
    constructor(...given) {{
        super(...given);
        window.source = this;
    }}
}};
"""
NO_STREAM = f"""
{OWN_STREAM}
window.EventSource = class {{ addEventListener() {{}} close() {{}} }};
"""
"""A page then keeps the list that a test changed: no stream replaces it."""


_LINKING = re.compile(r"status of 503 .*/api/v2/fixtures\)$")


@dataclass
class Complaints:
    """Errors that the browser reported; a test removes those that it causes on purpose.

    Right after a start the list of fixtures may be 503, until all that was delivered is linked.
    """

    said: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()

    def console(self, message: ConsoleMessage) -> None:
        """Record an error or a warning on the console, such as a violation of the content policy."""
        if message.type in {"error", "warning"}:
            self.said.append(f"{message.text} ({message.location.get('url')})")

    def error(self, error: Error) -> None:
        """Record an uncaught exception."""
        self.said.append(str(error))

    @property
    def unexpected(self) -> list[str]:
        """All errors that the test did not expect."""
        told = [name for name in self.said if _LINKING.search(name) is None]
        return [name for name in told if not any(part in name for part in self.expected)]

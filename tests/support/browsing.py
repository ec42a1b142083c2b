"""What a test of a page is given beside the page: a way to open others, and what the browser said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from playwright.sync_api import BrowserContext, ConsoleMessage, Error

OpenContext = Callable[..., BrowserContext]


@dataclass
class Complaints:
    """What the browser said of a page; a test names what it brings about itself."""

    said: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()

    def console(self, message: ConsoleMessage) -> None:
        """Note an error or a warning on the console, such as a violation of the policy."""
        if message.type in {"error", "warning"}:
            self.said.append(f"{message.text} ({message.location.get('url')})")

    def error(self, error: Error) -> None:
        """Note an exception that nobody caught."""
        self.said.append(str(error))

    @property
    def unexpected(self) -> list[str]:
        """Everything that the test did not name."""
        return [one for one in self.said if not any(part in one for part in self.expected)]

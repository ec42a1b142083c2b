"""Helpers for tests of a page: open further pages, and collect the errors that the browser reports."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from playwright.sync_api import BrowserContext, ConsoleMessage, Error, Locator, Page

from tests.support.systems.feed import Fixture

OpenContext = Callable[..., BrowserContext]

OWN_STREAM = "delete window.SharedWorker;"
"""With this script a page has a stream of its own, as without shared workers, and a test can reach it."""
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
"""With this script a page keeps the list that a test changed: no stream replaces the list."""


DERBY = Fixture("Home Town", "Away United", bet365=(2.0, 3.4, 3.9), bwin=(2.1, 3.3, 3.9))
LATER = Fixture("Home Town", "Away United", bet365=(2.2, 3.4, 3.5), bwin=(2.3, 3.3, 3.5))
"""The same match at other prices."""
OTHER = Fixture("Early Birds", "Night Owls", bet365=(1.5, 4.2, 6.5))

_LINKING = re.compile(r"status of 503 .*/api/v2/fixtures\)$")


def row_of(page: Page, home: str) -> Locator:
    """Return the row of the match with this home team."""
    return page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=home))


def homes(page: Page) -> Locator:
    """Return the home teams, from the top."""
    return page.locator(".match .team:first-child")


@dataclass
class Complaints:
    """Errors that the browser reported; a test removes those that it causes on purpose.

    Right after a start the list of fixtures may be 503, until all delivered matches are linked.
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

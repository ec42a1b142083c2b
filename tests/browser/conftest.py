"""A browser for the tests of a file, and pages whose console must stay empty."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.support.browsing import Complaints, OpenContext
from tests.support.chromium import ARGUMENTS, EXECUTABLE
from tests.support.systems.feed import Offered, offered
from tests.support.systems.two_sources import Two, two_sources

VIOLATIONS = """
addEventListener("securitypolicyviolation", (event) => {
    console.error("violation", event.violatedDirective, event.blockedURI);
});
"""
EXPECT_MS = 30_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Run a browser for the tests of one file.

    It does not run longer: while Playwright's event loop exists, no asynchronous test can have its own.
    """
    expect.set_options(timeout=EXPECT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def complaints() -> Iterator[Complaints]:
    """Fail a test after which the browser has reported anything that the test did not allow."""
    complaints = Complaints()
    yield complaints
    assert [] == complaints.unexpected


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Offered]:
    """Return a site whose prices the test sets; the site runs for the tests of one file."""
    with offered(tmp_path_factory.mktemp("site")) as offers:
        yield offers


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    """Run a service with both sources for the tests of this file."""
    with two_sources(tmp_path_factory.mktemp("two")) as two:
        yield two


@pytest.fixture
def context(browser: Browser, complaints: Complaints, site: Offered) -> Iterator[OpenContext]:
    """Open contexts, in Europe/Berlin and English by default, that note every complaint of the browser.

    The contexts are closed before the service of `site`, whose end would cause complaints.
    """
    del site
    contexts = []

    def open_context(**options: object) -> BrowserContext:
        given = {"timezone_id": "Europe/Berlin", "locale": "en-GB", **options}
        context = browser.new_context(**given)  # type: ignore[arg-type]  # options of Playwright
        context.set_default_timeout(EXPECT_MS)
        context.add_init_script(VIOLATIONS)
        context.on("console", complaints.console)
        context.on("weberror", lambda event: complaints.error(event.error))
        contexts.append(context)
        return context

    yield open_context
    for opened in contexts:
        for shown in opened.pages:
            shown.unroute_all(behavior="ignoreErrors")  # a request may be on its way
        opened.close()


@pytest.fixture
def page(context: OpenContext) -> Page:
    """Open a page."""
    return context().new_page()

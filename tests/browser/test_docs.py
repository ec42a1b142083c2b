"""/docs in Chromium: the contract, without scripts and without other hosts."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.browsing import OpenContext
from tests.support.systems.feed import Fixture, Offered

pytestmark = pytest.mark.browser


def test_the_contract_can_be_read_without_scripts(site: Offered, context: OpenContext) -> None:
    """Every path is a section, an example opens at a click, and nothing is loaded from elsewhere."""
    site.offer(Fixture("Home Town", "Away United", bet365=(2.0, 3.4, 3.9), bwin=(2.1, 3.3, 3.9)))
    base = site.start().base
    page, loaded = context(java_script_enabled=False).new_page(), list[str]()
    page.on("request", lambda request: loaded.append(request.url))
    endpoints = page.request.get(f"{base}/api/capabilities").json()["endpoints"]

    page.goto(f"{base}/docs")
    page.get_by_text("Example of application/json: The list.").first.click()

    expect(page.get_by_text('"matches_count": 2').first).to_be_visible()
    assert set(endpoints) <= set(page.locator("h3 code").all_inner_texts())
    assert {base} == {"/".join(url.split("/")[:3]) for url in loaded}


@pytest.mark.parametrize("width", [390, 1280])
def test_the_contents_lead_to_every_path_and_body(site: Offered, context: OpenContext, width: int) -> None:
    """Each error is described once, and nothing is wider than the window."""
    site.offer(Fixture("Home Town", "Away United", bet365=(2.0, 3.4, 3.9), bwin=(2.1, 3.3, 3.9)))
    page = context(viewport={"width": width, "height": 844}).new_page()
    page.goto(f"{site.start().base}/docs")
    named, targets = page.evaluate(
        "() => [[...document.querySelectorAll('a[href^=\"#\"]')].map(link => link.hash.slice(1)),"
        " [...document.querySelectorAll('[id]')].map(element => element.id)]"
    )

    assert set() == set(named) - set(targets)
    assert page.locator("section").count() == page.locator("#contents li").count()
    expect(page.get_by_text("the service is about to end")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#contents").get_by_role("link", name="/api/v2/changes").click()
    expect(page.locator("#get_api_v2_changes")).to_be_in_viewport()

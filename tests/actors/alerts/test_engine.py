"""The actor of the rules in the whole service, in virtual time."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.alerts.alert import Alert
from actors.service.settings import Settings, load
from tests.support.builders.football_data import Odds, sheet
from tests.support.peers.web import Web, refusing, serving
from tests.support.systems.virtual_service import KEY, VirtualService, pass_to, running

pytestmark = pytest.mark.anyio

SERVICE = """
[sources.one]
kind = "football_data"
url = "http://one.example/odds.csv"
poll_interval_s = 10.0
timeout_s = 5.0
stale_after_s = 30.0

[bookmakers.alder]
name = "Alder"
source = "one"
key = "B365"

[receivers.phone]
kind = "ntfy"
url = "https://ntfy.example/odds"
"""
PRICE = '[[alert]]\nname = "draw"\nwhen = "price"\noutcome = "X"\nabove = 3.5\nto = ["phone"]\n'
SOURCE = '[[alert]]\nname = "trouble"\nwhen = "source"\nto = ["phone"]\n'
LOW: Odds = (1.9, 3.4, 4.2)
HIGH: Odds = (1.9, 3.6, 4.2)


class _Service(VirtualService):
    """A service with rules; its source lists one match at prices that a test chooses."""

    def __init__(self, folder: Path, text: str) -> None:
        self.told: list[Alert] = []
        self.web = Web(serving(sheet(KEY, LOW)))
        self.crashes = 0
        super().__init__(_settings(folder, text), webs={"one": self.web}, offer=self._offer)

    def _offer(self, alert: Alert) -> None:
        if self.crashes:
            self.crashes -= 1
            raise RuntimeError("killed")
        self.told.append(alert)

    def said(self) -> list[str]:
        """Return rule and state of each alert since the last call."""
        said = [f"{alert.rule} {alert.state}" for alert in self.told]
        self.told.clear()
        return said


def _settings(folder: Path, text: str) -> Settings:
    config = folder / "oddsboard.toml"
    config.write_text(SERVICE + text, "utf-8")
    return load(config, {})


async def test_a_source_that_goes_dark_and_is_back_fires_no_rule_of_prices(tmp_path: Path) -> None:
    """A rise is reported once, its end when the price is withdrawn; the same price later fires nothing."""
    service = _Service(tmp_path, PRICE + SOURCE)
    async with running(service):
        await pass_to(15)
        service.web.answer = serving(sheet(KEY, HIGH))
        await pass_to(35)
        assert ["draw firing"] == service.said()

        service.web.answer = refusing
        await pass_to(120)
        assert ["trouble firing", "draw resolved"] == service.said()

        service.web.answer = serving(sheet(KEY, HIGH))
        await pass_to(400)
        assert ["trouble resolved"] == service.said()


async def test_a_source_that_never_answered_is_no_news(tmp_path: Path) -> None:
    """A fault that exists at the start of the service fires no alert."""
    service = _Service(tmp_path, SOURCE)
    service.web.answer = refusing
    async with running(service):
        await pass_to(100)
        service.web.answer = serving(sheet(KEY, LOW))
        await pass_to(400)

        assert [] == service.said()


async def test_after_a_crash_the_rules_go_on(tmp_path: Path) -> None:
    """A new run first compares the board, which fires no alert, and then follows the board again."""
    service = _Service(tmp_path, PRICE)
    async with running(service):
        await pass_to(15)
        service.crashes = 1
        for number, prices in enumerate((HIGH, LOW, HIGH), 1):
            service.web.answer = serving(sheet(KEY, prices))
            await pass_to(15 + 20 * number)

        assert 1 == service.system.status.actors["alerts"].crashes
        assert ["draw resolved", "draw firing"] == service.said()


async def test_other_rules_note_what_holds_and_leave_the_rest(tmp_path: Path) -> None:
    """A rule that is read again keeps its state; a new rule fires at the next rise."""
    service = _Service(tmp_path, PRICE)
    async with running(service):
        await pass_to(15)
        service.web.answer = serving(sheet(KEY, HIGH))
        await pass_to(35)
        assert ["draw firing"] == service.said()

        both = PRICE + PRICE.replace("draw", "again")
        service.system.replace_alerts(_settings(tmp_path, both).alert)
        await pass_to(36)
        service.web.answer = serving(sheet(KEY, LOW))
        await pass_to(55)
        assert ["draw resolved"] == service.said()
        service.web.answer = serving(sheet(KEY, HIGH))
        await pass_to(75)
        assert ["again firing", "draw firing"] == sorted(service.said())

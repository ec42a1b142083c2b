"""`oddsboard alerts test NAME`: sends an alert with invented content to the receivers of a rule, once."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

from actors.alerts.alert import Alert, State
from actors.alerts.message import messages_of
from actors.alerts.receivers.options import ReceiverSettings
from actors.alerts.sending import Sender
from actors.core.clock import SystemClock, wall_s
from actors.core.errors import ConfigError, TransportError
from actors.core.nearest import did_you_mean
from actors.runtime.facts import conceal, masked
from actors.service.settings import load, program_path
from actors.transports.connections import LookUpLoop
from web.cli.choosing import add_config, chosen
from web.cli.terminal import run_until_interrupted
from web.server.lifecycle import Exit

MAX_SHOWN = 200  # characters of an answer


def add_options(test: argparse.ArgumentParser) -> None:
    """Add the options of the command, and set `act` to its function."""
    test.set_defaults(act=_test)
    test.add_argument("name", metavar="NAME", help="the name of a rule")
    add_config(test)


def _test(given: argparse.Namespace) -> Exit:
    path, _ = chosen(given.config)
    settings = load(path)
    rules = {rule.name: rule for rule in settings.alert}
    if (rule := rules.get(given.name)) is None:
        known = f"one of {', '.join(rules)}" if rules else "the name of an [[alert]]"
        near = did_you_mean(given.name, rules)
        raise ConfigError(f"NAME was {given.name!r}, must be {known}{near}")
    conceal(settings.secrets())
    test = _Test(_invented(rule.name, rule.when, rule.to, wall_s()), settings.receivers)
    run_until_interrupted(test.run, loop_factory=LookUpLoop)
    return Exit.STOPPED if test.is_good else Exit.UNEXPECTED


class _Test:
    def __init__(self, alert: Alert, receivers: Mapping[str, ReceiverSettings]) -> None:
        self.is_good = True
        self._alert, self._receivers = alert, receivers

    async def run(self) -> None:
        """Send to one receiver after the other, and print the answer of each."""
        sender = Sender(SystemClock(), {"PATH": program_path()})
        for message in messages_of([self._alert], 0, self._alert.at):
            try:
                said = f"taken, {await sender.send(self._receivers[message.receiver], message)}"
            except TransportError as error:
                self.is_good = False
                said = f"not taken: {error}{_begin_of(error.body)}"
            sys.stdout.write(f"{message.receiver}: {masked(said)}\n")
            sys.stdout.flush()


def _begin_of(body: bytes) -> str:
    text = "".join(filter(str.isprintable, " ".join(body.decode("utf-8", "replace").split())))
    return f": {text[:MAX_SHOWN]}" if text else ""


def _invented(rule: str, when: str, to: tuple[str, ...], at: float) -> Alert:
    home, away = "Example United", "Sample City"
    return Alert(
        id=f"{rule} test {int(at)}",
        rule=rule,
        when=when,
        state=State.FIRING,
        version=int(at),
        at=at,
        subject="test",
        title=f"Test of the rule {rule}, nothing has happened: {home} - {away}",
        details={"test": True, "home": home, "away": away, "league": "Invented League", "kick_off": at},
        to=to,
    )

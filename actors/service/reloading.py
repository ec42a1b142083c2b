"""On SIGHUP reads the configuration again, applies what a running service can change, logs the rest.

Everything is read and checked first, then changed in one step of the loop. Display names stay, because a
change of a name would have no version. In a cluster all settings that its processes must have in
common stay (`clustering.shape_of`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio.to_thread
import structlog
from msgspec import Struct
from msgspec.structs import fields, replace

from actors.core.errors import ConfigError
from actors.runtime.facts import announce
from actors.service.settings import Settings, load

log = structlog.get_logger()


@dataclass(slots=True)
class Reload:
    """The configuration at `path`; `settings` are the running ones.

    `read_links` reads the file of links again, applies it, and returns whether it was usable; it is not
    called if the configuration names another file now. `apply` gets the old and the new settings;
    `set_level` sets the level of the log.
    """

    path: Path
    settings: Settings
    read_links: Callable[[], Coroutine[Any, Any, bool]]
    apply: Callable[[Settings, Settings], None]
    set_level: Callable[[str], None]

    async def again(self) -> None:
        """Read everything; log an unusable file, and then change nothing, not even the links."""
        try:
            new = await anyio.to_thread.run_sync(load, self.path, abandon_on_cancel=True)
        except (ConfigError, RuntimeError) as error:  # RuntimeError: the system allows no further thread
            faults = str(error).splitlines()
            is_of_links = all(fault.startswith(f"{self.path}: links.file: ") for fault in faults)
            if not is_of_links or await self.read_links():  # `read_links` logs a fault of its own file
                announce(log, "configuration.rejected", error="; ".join(faults))
            return
        if new.links != self.settings.links or await self.read_links():
            self._apply(new)

    def _apply(self, new: Settings) -> None:
        old, running = self.settings, changed(self.settings, new)
        self.settings = running
        self.apply(old, running)
        lists = {
            "applied": [*differences(old, running)],
            "needs_restart": [*differences(running, new)],
        }
        # The line has the level `info`: it is shown if either the old or the new level shows it.
        levels = old.server.log_level, running.server.log_level
        self.set_level(min(levels, key=lambda level: logging.getLevelNamesMapping()[level.upper()]))
        announce(log, "configuration.read", file=str(self.path), **lists)
        self.set_level(running.server.log_level)


def changed(running: Settings, new: Settings) -> Settings:
    """Return the running settings with those new settings that a running service can apply."""
    of_server = {name: getattr(new.server, name) for name in ("max_streams", "log_level")}
    found = replace(running, server=replace(running.server, **of_server), limits=new.limits)
    if running.alert:  # otherwise nothing in the process follows the boards for rules
        found = replace(found, alert=new.alert)
    if running.receivers:  # otherwise nothing delivers
        found = replace(found, receivers=new.receivers)
    if running.cluster.url is not None:
        return found
    of_bookmakers = running.bookmakers
    if of_bookmakers.keys() == new.bookmakers.keys():  # otherwise two bookmakers might have one short name
        of_bookmakers = {
            name: replace(entry, short=new.bookmakers[name].short) for name, entry in of_bookmakers.items()
        }
    return replace(found, bookmakers=of_bookmakers, surebets=new.surebets)


def differences(old: Settings, new: Settings) -> Iterator[str]:
    """Yield the keys in which two configurations differ, without values: they may be secrets."""
    for field in fields(Settings):
        before, after = getattr(old, field.name), getattr(new, field.name)
        if field.name == "overrides":  # the file of links
            continue
        if isinstance(before, Mapping):
            for name in dict.fromkeys((*before, *after)):
                yield from _differences(before.get(name), after.get(name), f"{field.name}.{name}")
            if {*before} == {*after} and [*before] != [*after]:
                yield f"the order of {field.name}"
        else:
            yield from _differences(before, after, field.name)


def _differences(before: Any, after: Any, at: str) -> Iterator[str]:
    """Yield the place `at` if its values differ, or the differing places in two values of one type."""
    if isinstance(before, Struct) and type(before) is type(after):
        for field in fields(before):
            if field.name not in {"kind", "written"}:
                place = at if field.name == "options" else f"{at}.{field.encode_name}"
                yield from _differences(getattr(before, field.name), getattr(after, field.name), place)
    elif before != after:
        yield at

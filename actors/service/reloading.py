"""SIGHUP: reads the configuration again, says what of it needs a restart, and reads the file of links."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio.to_thread
import structlog
from msgspec import Struct
from msgspec.structs import fields

from actors.core.errors import ConfigError
from actors.runtime.facts import announce
from actors.service.settings import Settings, load

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Reload:
    """The configuration at `path`, which runs as `settings`; `read_links` reads the file of links again."""

    path: Path
    settings: Settings
    read_links: Callable[[], Coroutine[Any, Any, None]]

    async def again(self) -> None:
        """Read everything; what cannot be used is logged, and nothing changes, the links neither."""
        try:
            new = await anyio.to_thread.run_sync(load, self.path, abandon_on_cancel=True)
        except (ConfigError, RuntimeError) as error:  # the latter if the system allows no further thread
            faults = str(error).splitlines()
            if not all(fault.startswith(f"{self.path}: links.file: ") for fault in faults):
                announce(log, "configuration.rejected", error="; ".join(faults))
                return
        else:
            changed = [*differences(self.settings, new)]
            announce(log, "configuration.read", file=str(self.path), needs_restart=changed)
        await self.read_links()


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
    """Yield the place, or those in it of which both are of one type."""
    if isinstance(before, Struct) and type(before) is type(after):
        for field in fields(before):
            if field.name not in {"kind", "written"}:
                place = at if field.name == "options" else f"{at}.{field.encode_name}"
                yield from _differences(getattr(before, field.name), getattr(after, field.name), place)
    elif before != after:
        yield at

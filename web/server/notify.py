"""Notifies the service manager by sd_notify(3) that the service is ready, alive or stopping.

Once the service is ready, systemd starts the units that wait for it. If no sign of life comes within the
watchdog's time, systemd ends the service. Without an address nothing is sent.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import anyio

TIMES = 3
"""The number of signs of life within the watchdog's time."""


@dataclass(frozen=True, slots=True)
class Notifier:
    """Sends the service manager states and signs of life, through the socket at `address`.

    An address that begins with "@" is an abstract socket. With `watchdog_s` 0 no sign of life is sent.
    `is_alive` is called in the event loop: if the loop or the core hangs, no sign of life is sent.
    """

    address: str = ""
    watchdog_s: float = 0.0
    is_alive: Callable[[], bool] = lambda: True

    def tell(self, state: str) -> None:
        """Send a state such as READY=1; drop it if it cannot be sent immediately."""
        if not self.address:
            return
        name = f"\0{self.address[1:]}" if self.address.startswith("@") else self.address
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.sendto(state.encode(), socket.MSG_DONTWAIT, name)

    async def watch(self) -> None:
        """Send signs of life as long as the service is alive."""
        while self.watchdog_s:
            if self.is_alive():
                self.tell("WATCHDOG=1")
            await anyio.sleep(self.watchdog_s / TIMES)

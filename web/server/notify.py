"""Tells the service manager that the service is ready, alive or stopping: datagrams, as of sd_notify(3).

systemd starts what waits for the service once it is ready, and ends it if it is not told for too long that
the service is alive. Without an address nothing is sent.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import anyio

TIMES = 3
"""How often within the manager's time it is told that the service is alive."""


@dataclass(frozen=True, slots=True)
class Notifier:
    """Sends to the socket at `address` ("@" begins an abstract one); within `watchdog_s`, 0 for never.

    `is_alive` is asked in the event loop, so that neither a loop that hangs nor a core that does is alive.
    """

    address: str = ""
    watchdog_s: float = 0.0
    is_alive: Callable[[], bool] = lambda: True

    def tell(self, state: str) -> None:
        """Send a state such as READY=1; nothing if it cannot be sent at once."""
        if not self.address:
            return
        name = f"\0{self.address[1:]}" if self.address.startswith("@") else self.address
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.sendto(state.encode(), socket.MSG_DONTWAIT, name)

    async def watch(self) -> None:
        """Tell several times within the watchdog's time that the service is alive, while it is."""
        while self.watchdog_s:
            if self.is_alive():
                self.tell("WATCHDOG=1")
            await anyio.sleep(self.watchdog_s / TIMES)

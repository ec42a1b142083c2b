"""What a program says on standard error, for our log: by level, limited, without secrets."""

from __future__ import annotations

from structlog.typing import FilteringBoundLogger

from actors.core.clock import Instant

MAX_REMARKS = 60  # logged in each `WINDOW_S`
WINDOW_S = 60.0
MAX_CHARS = 300


class Remarks:
    """Logs lines, at the level of a prefix as Telegraf's programs have it: `E!`, `W!`, `I!` or `D!`."""

    def __init__(self, log: FilteringBoundLogger, secrets: tuple[str, ...]) -> None:
        self._log = log
        self._secrets = secrets
        self._began_mono = -WINDOW_S
        self._logged = self._dropped = 0

    def add(self, line: str, now: Instant) -> None:
        """Log a line, or count it if there were too many."""
        if now.mono - self._began_mono >= WINDOW_S:
            if self._dropped:
                self._log.warning("program.remarks_dropped", lines=self._dropped)
            self._began_mono, self._logged, self._dropped = now.mono, 0, 0
        if self._logged >= MAX_REMARKS:
            self._dropped += 1
            return
        self._logged += 1
        for secret in self._secrets:
            line = line.replace(secret, "***")
        level, text = line[:2], line[:MAX_CHARS]
        match level:
            case "E!":
                self._log.error("program.remarked", text=text[2:].strip())
            case "W!":
                self._log.warning("program.remarked", text=text[2:].strip())
            case "D!":
                self._log.debug("program.remarked", text=text[2:].strip())
            case "I!":
                self._log.info("program.remarked", text=text[2:].strip())
            case _:
                self._log.info("program.remarked", text=text.strip())

"""The unit for systemd: it can be loaded, exposes little, and agrees with the service."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from shutil import which

import pytest

from actors.archive.archive import BOOT_ID
from tests.support.source_code import ROOT
from web.endpoints.health import MAX_TURN_AGE_S
from web.server.lifecycle import Exit

UNIT = ROOT / "config" / "deploy" / "oddsboard.service"
PROGRAM = "/opt/oddsboard/.venv/bin/oddsboard"
MAX_EXPOSURE = 15  # out of 100, by systemd-analyze

needs_systemd = pytest.mark.skipif(
    which("systemd-analyze") is None, reason="needs systemd-analyze (Debian: apt-get install systemd)"
)


def _analyzed(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["systemd-analyze", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def _settings() -> dict[str, str]:
    return dict(re.findall(r"^(\w+)=(.*)$", UNIT.read_text("utf-8"), re.MULTILINE))


@needs_systemd
def test_the_unit_can_be_loaded(tmp_path: Path) -> None:
    """Systemd knows every line; another program stands in for the service, which is not installed here."""
    text = UNIT.read_text("utf-8")
    assert PROGRAM in text
    copy = tmp_path / UNIT.name
    copy.write_text(text.replace(PROGRAM, "/bin/true"), "utf-8")

    found = _analyzed("verify", "--man=no", str(copy))

    assert (0, "") == (found.returncode, found.stderr)


@needs_systemd
def test_the_unit_exposes_little() -> None:
    """Systemd measures how much a service could do to the machine; a unit without protection has 95."""
    found = _analyzed("security", "--offline=true", f"--threshold={MAX_EXPOSURE}", str(UNIT))

    assert 0 == found.returncode, found.stdout


def test_the_unit_and_the_service_agree() -> None:
    """A restart would not help after these exit codes; the watchdog waits longer than a turn may take."""
    settings = _settings()
    final = {Exit.USAGE, Exit.BIND, Exit.CONFIG}

    assert final == set(map(int, settings["RestartPreventExitStatus"].split()))
    assert int(settings["WatchdogSec"]) > 2 * MAX_TURN_AGE_S
    assert ("notify", "main") == (settings["Type"], settings["NotifyAccess"])


def test_lists_can_be_restored_under_the_unit() -> None:
    """Lists are restored only within one boot; the unit must not hide the file that identifies the boot."""
    assert BOOT_ID.is_relative_to("/proc/sys")
    assert "ProcSubset" not in _settings()

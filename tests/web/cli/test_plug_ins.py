"""Broken packages that provide a kind of source: each use of such a kind is refused with one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.systems.plugin import installed
from tests.support.systems.process import Ended

CONFIG = """
[sources.text]
kind = "broken"
url = "http://127.0.0.1:9/"
poll_interval_s = 60
[bookmakers.one]
name = "One"
source = "text"
key = "alpha"
[bookmakers.two]
name = "Two"
source = "text"
key = "beta"
"""
FAILING = """
import msgspec
from actors.source_api.kinds import PolledKind
from actors.source_api.options import PolledOptions


class Options(PolledOptions, frozen=True, kw_only=True):
    def __post_init__(*given):
        pass


class Calls:
    def check_key(*given):
        pass

    def plan(*given):
        pass


KIND = PolledKind("broken", Options, Calls.check_key, Calls.plan, print, print)
"""
CHECKED = " cannot be checked by its kind: "


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install packages in a folder that also has a configuration."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "broken.toml").write_text(CONFIG, "utf-8")
    yield tmp_path
    sys.modules.pop("broken", None)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("nowhere:KIND", "cannot be loaded"),
        ("json:nothing", "cannot be loaded"),
        ("json:dumps", "must be a PolledKind, a TickingKind or a StreamKind"),
        ("actors.sources.simulated.kind:KIND", "must be 'broken'"),
    ],
)
def test_a_broken_package_affects_only_its_own_kind(
    ended: Ended, folder: Path, value: str, message: str
) -> None:
    """A use of the broken kind is refused with its entry point's name; everything else works."""
    installed(folder, "broken", "")
    points = folder / "broken-1.0.dist-info" / "entry_points.txt"
    points.write_text(f"[oddsboard.sources]\nbroken = {value}\n", "utf-8")

    code, _, err = ended("check-config", "--config", folder / "broken.toml")

    assert (78, True, True) == (code, "broken" in err, message in err)
    assert 0 == ended("check-config", "--config", "config/default.toml")[0]


@pytest.mark.parametrize("command", ["serve", "check-config", "sources"])
@pytest.mark.parametrize(
    ("raised", "message"),
    [
        ("RuntimeError('no licence:\\n\\nask for one')", "RuntimeError: no licence: ask for one"),
        ("OSError(2, 'No such file')", "FileNotFoundError: [Errno 2] No such file"),
        ("KeyError('HOME')", "KeyError: 'HOME'"),
        ("SystemExit(0)", "SystemExit: 0"),
        ("GeneratorExit()", "GeneratorExit:"),
        ("type('Panic', (BaseException,), {})('index')", "Panic: index"),
        ("type('Mute', (Exception,), {'__str__': lambda self: 1 / 0})()", "Mute: it has no text"),
    ],
)
def test_any_exception_at_import_is_one_line(
    ended: Ended, folder: Path, command: str, raised: str, message: str
) -> None:
    """An exception at the import is a configuration error 78, whose line names the entry point."""
    installed(folder, "broken", f"raise {raised}\n")
    chosen = () if command == "sources" else ("--config", folder / "broken.toml")

    code, _, err = ended(command, *chosen)

    assert (78, 1) == (code, err.count("\n"))
    assert f"entry point broken = broken:KIND: cannot be loaded: {message}" in err


@pytest.mark.parametrize("where", ["check_key", "plan", "__post_init__"])
@pytest.mark.parametrize(
    ("raised", "message"),
    [
        ("SystemExit(0)", f"{CHECKED}SystemExit: 0"),
        ("KeyError('x')", f"{CHECKED}KeyError: 'x'"),
        ("msgspec.ValidationError('x is wrong')", ".x is wrong"),
    ],
)
def test_any_exception_of_a_kinds_check_is_a_line(
    ended: Ended, folder: Path, where: str, raised: str, message: str
) -> None:
    """The line names the source or the bookmaker, with code 78; msgspec's own error names the value."""
    text = FAILING.replace(f"def {where}(*given):", f"def {where}(*given):\n        raise {raised}")
    installed(folder, "broken", text)

    code, _, err = ended("serve", "--config", folder / "broken.toml")

    assert (78, 2 if where == "check_key" else 1) == (code, err.count("\n"))
    at = "bookmakers.one" if where == "check_key" else "sources.text"
    assert f"{at}{message}\n" in err

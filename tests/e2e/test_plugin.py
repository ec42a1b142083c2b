"""A kind of source from another package: the example of docs/sources.md, installed and run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.support.peers.http import http_peer, respond
from tests.support.systems.process import ROOT, service
from tests.support.systems.process import ran as ran_python
from tests.support.time.waiting import eventually
from web.__main__ import main

Ran: TypeAlias = Callable[..., tuple[object, str, str]]

CONFIG = """
[sources.text]
kind = "lines"
url = "{url}"
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
BODY = b"m1|Alder Town|Birch United|alpha|1.95|3.60|4.20\nm1|Alder Town|Birch United|beta|2.00|3.50|4.00\n"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the documented package, without an index, into a folder and return it."""
    document = (ROOT / "docs" / "sources.md").read_text("utf-8")
    package, target = tmp_path_factory.mktemp("package"), tmp_path_factory.mktemp("installed")
    for name, language in (("pyproject.toml", "toml"), ("oddsboard_lines.py", "python")):
        blocks = re.findall(rf"```{language}\n(.*?)```", document, re.DOTALL)
        (package / name).write_text(blocks[-1], "utf-8")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--no-build-isolation", "--target", str(target), str(package)], check=True)
    return target


@pytest.fixture
def ran(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Ran]:
    """Return what runs a command with the packages of a folder, and returns code, output and errors."""
    before = {*sys.modules}

    def run(folder: Path, *arguments: str) -> tuple[object, str, str]:
        monkeypatch.syspath_prepend(folder)
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        return ended.value.code, *capsys.readouterr()

    yield run
    for name in {"oddsboard_lines", "broken_import", "failing"} & (sys.modules.keys() - before):
        del sys.modules[name]


def test_an_installed_kind_is_listed(installed: Path) -> None:
    """`sources` shows its name with its package and its options."""
    code, out, err = ran_python("-m", "web", "sources", environment={"PYTHONPATH": str(installed)})

    assert (0, "") == (code, err)
    assert re.search(r"^lines \(oddsboard-lines\)\n(  .*\n)*  url  \(required\)\n", out, re.MULTILINE)


def test_an_installed_kind_supplies_odds(installed: Path, tmp_path: Path) -> None:
    """A configuration uses it like any other, and its odds are on the board."""
    config = tmp_path / "lines.toml"
    with http_peer() as peer:
        peer.answers["/odds.txt"] = respond(BODY)
        config.write_text(CONFIG.format(url=peer.url("/odds.txt")), "utf-8")
        with service(config, {"PYTHONPATH": str(installed)}) as running:

            def prices() -> list[tuple[str, list[float]]]:
                answer = json.loads(running.get("/api/odds").content)
                return [(entry["id"], entry["odds"]) for entry in answer.get("matches", [])]

            eventually(lambda: len(prices()) == 2, "both bookmakers are on the board")
            shown = prices()

    assert [("one_m1", [1.95, 3.6, 4.2]), ("two_m1", [2.0, 3.5, 4.0])] == shown


def test_keys_of_an_installed_kind_are_checked(ran: Ran, installed: Path, tmp_path: Path) -> None:
    """The package's message about a key is printed."""
    config = tmp_path / "lines.toml"
    config.write_text(CONFIG.format(url="http://127.0.0.1:9/").replace("beta", "b3ta"), "utf-8")

    code, _, err = ran(installed, "check-config", "--config", str(config))

    assert 78 == code
    assert "bookmakers.two.key was 'b3ta', must be letters" in err


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
    ran: Ran, tmp_path: Path, value: str, message: str
) -> None:
    """Its use is refused with the name of its entry point, and everything else works without it."""
    config = _broken(tmp_path, value)

    code, _, err = ran(tmp_path, "check-config", "--config", str(config))

    assert (78, True, True) == (code, "broken" in err, message in err)
    assert 0 == ran(tmp_path, "check-config")[0]


FRACTIONS = """
from fractions import Fraction
import msgspec
import oddsboard_lines
from actors.source_api import Extract

class Text(str):
    pass

def extract(rows, key, options):
    given = yield from oddsboard_lines.extract(rows, key, options)
    (good,) = given.matches
    odd = {"home": Text("A"), "draw_price": Fraction(7, 2), "away_price": "3.5", "start_time": 1.0}
    refused = [
        msgspec.structs.replace(good, source_match_id=name, **{name: value}) for name, value in odd.items()
    ]
    return Extract((good, *refused), title="One", passed_over={Text("lay"): 1, "sport": 2})

KIND = msgspec.structs.replace(oddsboard_lines.KIND, name="fractions", extract=extract)
"""


def test_values_of_other_types_are_refused(installed: Path, tmp_path: Path) -> None:
    """Fractions and the like from a plug-in are rejected and counted, and its other matches are shown."""
    info = tmp_path / "fractions_kind-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fractions_kind\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(
        "[oddsboard.sources]\nfractions = fractions_kind:KIND\n", "utf-8"
    )
    (tmp_path / "fractions_kind.py").write_text(FRACTIONS, "utf-8")
    config = tmp_path / "fractions.toml"
    with http_peer() as peer:
        peer.answers["/odds.txt"] = respond(BODY)
        config.write_text(
            CONFIG.format(url=peer.url("/odds.txt")).replace('"lines"', '"fractions"'), "utf-8"
        )
        with service(config, {"PYTHONPATH": f"{installed}:{tmp_path}"}) as running:

            def answer(path: str) -> Any:
                return json.loads(running.get(path).content)

            eventually(lambda: len(answer("/api/v2/odds").get("matches", [])) == 2, "both are on the board")
            listed, health, stats = answer("/api/v2/odds"), answer("/health"), answer("/api/stats")

    assert [{"1": 1.95, "X": 3.6, "2": 4.2}, {"1": 2.0, "X": 3.5, "2": 4.0}] == [
        match["odds"] for match in listed["matches"]
    ]
    assert "pass" == health["status"]
    assert {"type": 4, "sport": 2} == stats["data"]["bookmakers"]["one"]["rejected"]


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
    ran: Ran, tmp_path: Path, command: str, raised: str, message: str
) -> None:
    """It is a configuration error that names the entry point, with exit code 78."""
    (tmp_path / "broken_import.py").write_text(f"raise {raised}\n", "utf-8")
    config = _broken(tmp_path, "broken_import:KIND")
    chosen = () if command == "sources" else ("--config", str(config))

    code, _, err = ran(tmp_path, command, *chosen)

    assert (78, 1) == (code, err.count("\n"))
    assert f"entry point broken = broken_import:KIND: cannot be loaded: {message}" in err


CHECKED = " cannot be checked by its kind: "


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
    ran: Ran, tmp_path: Path, where: str, raised: str, message: str
) -> None:
    """It names the source, or each of two bookmakers, with code 78; msgspec's error is one of the value."""
    text = FAILING.replace(f"def {where}(*given):", f"def {where}(*given):\n        raise {raised}")
    (tmp_path / "failing.py").write_text(text, "utf-8")
    config = _broken(tmp_path, "failing:KIND")

    code, _, err = ran(tmp_path, "serve", "--config", str(config))

    assert (78, 2 if where == "check_key" else 1) == (code, err.count("\n"))
    at = "bookmakers.one" if where == "check_key" else "sources.text"
    assert f"{at}{message}\n" in err


def _broken(folder: Path, value: str) -> Path:
    """Install a package whose entry point is `value`, and return a configuration that names it."""
    info = folder / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(f"[oddsboard.sources]\nbroken = {value}\n", "utf-8")
    config = folder / "broken.toml"
    config.write_text(CONFIG.format(url="http://127.0.0.1:9/").replace('"lines"', '"broken"'), "utf-8")
    return config

"""Every command in a document is run, in a copy of the repository that is prepared as a user prepares it.

The exceptions are listed below with reasons. A service that would use the internet is only checked,
with the credentials that the document shows.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from msgspec import Struct

from tests.support.documents import DOCUMENTS, blocks
from tests.support.oracles.printed import VERSION, looks_like
from tests.support.systems.process import ROOT, Service, started
from tests.support.time.waiting import eventually

EXCEPTIONS = {
    "scripts/test": "runs these tests",
    ".ci/run": "runs these tests",
    ".venv/bin/oddsboard probe": "asks a venue; tests/web/cli/test_source_commands.py has it",
    ".venv/bin/ruff ": "scripts/test runs it before the tests",
    ".venv/bin/mypy": "scripts/test runs it before the tests",
    ".venv/bin/lint-imports ": "scripts/test runs it before the tests",
    ".venv/bin/python -m pytest ": "scripts/test runs it",
    "pip install ": "needs a package index; tests/e2e/test_installing.py has what it installs",
    "pip wheel ": "needs a package index; tests/e2e/test_installing.py builds one",
    ".venv/bin/pip install ./oddsboard-lines": "needs a package index; tests/e2e/test_installing.py has it",
    ".venv/bin/oddsboard archive ": "needs an archive; tests/web/cli/test_archive_command.py has it",
    ".venv/bin/oddsboard clv ": "needs an archive; tests/web/cli/test_clv_command.py has it",
    ".venv/bin/oddsboard watch ": "ends by Ctrl+C alone; tests/web/cli/boards/test_screen.py has its rows",
    "sqlite3 ": "reads the archive of a service; tests/actors/archive/test_journal.py has the table",
    "scripts/client-wheel": "needs a package index; tests/e2e/test_installing.py builds it",
    "scripts/image": "needs root, debootstrap and indexes of packages",
    "scripts/manifests": "prepares an environment of its own, from a package index",
    "scripts/package": "installs packages from an index",
    "scripts/bench": "prepares an environment of its own, from a package index",
    "scripts/fuzz": "prepares an environment of its own, from a package index",
    "scripts/lock": "needs uv, and a package index",
    "scripts/damage": "needs recordings",
    "scripts/links": "needs recordings",
    "scripts/operations": "changes docs/operations.md; tests/test_docs.py compares what it writes",
    "docker ": "needs an engine for containers, and a registry of images",
}
"""Beginnings of commands that are not run, with reasons."""

ASKING = (
    ".venv/bin/oddsboard links ",
    ".venv/bin/oddsboard trace ",
    ".venv/bin/oddsboard surebets ",
    ".venv/bin/oddsboard get ",
)
"""Commands that ask the running service; ID stands for the id of a fixture."""

EXACT = ".venv/bin/oddsboard check-config "
"""Commands of which each line and number is compared: nothing in them changes by itself."""

REQUESTS = ("curl ", "cursor=$(curl ")
PROGRAMS = (
    *REQUESTS,
    "printf ",
    ".venv/bin/oddsboard ",
    "scripts/serve",
    "scripts/trace_price",
    "scripts/licences",
)
MOVING, ATTEMPTS = "--etag-compare", 3
"""A price may change between the two requests of one command; every other request is sent once."""
LIST = "/api/v2/odds?bookmaker=birch"
"""The list whose version takes the place of every version in a command."""

RUN_S, ANSWER_S, STREAM_S, PREPARE_S = 120.0, 120.0, 5, 900.0
CUT_BY_TIME = 28
"""The exit code of curl when `--max-time` is over."""

SHELL = "/bin/sh"
NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv*", ".fuzz", "__pycache__", "*.egg-info", ".*_cache", ".hypothesis"
)


class Command(Struct, frozen=True):
    """One command line, and the output that the document shows below it, if any.

    Lines without output belong to the next command, because it needs what they set or write.
    """

    line: str
    shown: tuple[str, ...] = ()

    @property
    def is_exception(self) -> bool:
        """Whether the command is not run."""
        return self.line.startswith(tuple(EXCEPTIONS))

    @property
    def is_request(self) -> bool:
        """Whether it asks the running service."""
        return self.line.startswith(REQUESTS)

    @property
    def program(self) -> str:
        """The line without the variables set before the command."""
        return re.sub(r"^(?:[A-Z_]+=\S+ )+", "", self.line)


def commands(file: Path) -> list[Command]:
    """Return every command of the document, in order."""
    found: list[Command] = []
    for block in blocks(file.read_text("utf-8")):
        if block.language == "sh":
            found += [Command(line) for line in block.lines if line and not line.startswith("#")]
        if block.language == "console":
            starts = [at for at, line in enumerate(block.lines) if line.startswith("$ ")]
            before = ""
            for at, end in zip(starts, [*starts[1:], len(block.lines)], strict=True):
                line, shown = before + block.lines[at].removeprefix("$ "), block.lines[at + 1 : end]
                before = f"{line}\n" if not shown else ""
                if shown or end == len(block.lines):
                    found.append(Command(line, shown))
    return found


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the repository and prepare it."""
    folder = tmp_path_factory.mktemp("clone") / "oddsboard"
    shutil.copytree(ROOT, folder, symlinks=True, ignore=NOT_COPIED)
    subprocess.run([folder / "scripts" / "prepare", "run"], cwd=folder, check=True, timeout=PREPARE_S)
    return folder


@pytest.fixture(scope="module")
def board(clone: Path) -> Iterator[Service]:
    """Run the service that the documents send requests to, started as the README does."""
    with started(["scripts/serve", "--bind", "127.0.0.1:0"], clone) as service:
        eventually(lambda: _is_linked(service), "all bookmakers live, all matches linked", ANSWER_S)
        yield service


def test_every_command_is_run_or_excepted() -> None:
    """Every program in a document is known here, and every exception occurs in a document."""
    shown = [command for file in DOCUMENTS for command in commands(file)]

    assert [] == [
        command.line
        for command in shown
        if not (command.is_exception or command.program.startswith(PROGRAMS))
    ]
    assert [] == [
        text for text in EXCEPTIONS if not any(command.line.startswith(text) for command in shown)
    ]
    assert [] == [command.line for command in shown if command.is_request and not command.shown]


@pytest.mark.parametrize(
    ("shown", "printed", "is_alike"),
    [
        (['{"a":1,"b":[{"c":"x"}]}'], '{"a":2.5,"b":[{"c":"y"},{"c":"z"}]}', True),
        (['{"a":1,"b":[...]}'], '{"a":2,"b":[{"c":"y"}]}', True),
        (['{"a":1}'], '{"a":1,"b":2}', False),
        (['{"a":[{"b":1}]}'], '{"a":[{"b":"1"}]}', False),
        (["HTTP/1.1 304", 'etag: "1"'], 'HTTP/1.1 304 \r\ndate: now\r\netag: "2"\r\n', True),
        (["HTTP/1.1 304", 'etag: "1"'], "HTTP/1.1 304 \r\ndate: now\r\n", False),
        (["HTTP/1.1 304"], "HTTP/1.1 200 \r\n", False),
        (["event: reset", 'data: {"v":1}'], 'event: reset\ndata: {"v":2}\n\nevent: more\n', True),
        (["event: reset"], "event: changes\n", False),
        (["event: reset", "", "event: changes"], "event: reset\n", False),
        (["every 5 s"], "every 10 s\n", True),
        (["every 5 s"], "each 5 s\n", False),
    ],
)
def test_output_is_compared_without_its_values(shown: list[str], printed: str, *, is_alike: bool) -> None:
    """Values may differ; fields, types, status, headers, kinds of event and words may not."""
    assert is_alike is looks_like(shown, printed)


@pytest.mark.parametrize(("printed", "is_alike"), [("every 5 s\n", True), ("every 10 s\n", False)])
def test_output_of_a_check_is_compared_with_its_values(printed: str, *, is_alike: bool) -> None:
    """A configuration of the repository is checked: its figures are those of the document."""
    assert is_alike is _is_shown(Command(f"A=b {EXACT}--config config/x.toml", ("every 5 s",)), printed)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize(
    "file", [document for document in DOCUMENTS if commands(document)], ids=lambda file: file.name
)
def test_commands_do_what_the_document_says(file: Path, clone: Path, board: Service) -> None:
    """Commands succeed, one after the other, and their output looks like the one shown."""
    before = set(clone.iterdir())
    try:
        for command in commands(file):
            if not command.is_exception:
                _run(command, clone, board)
    finally:
        for new in set(clone.iterdir()) - before:
            shutil.rmtree(new) if new.is_dir() else new.unlink()


def _run(command: Command, clone: Path, board: Service) -> None:
    if command.is_request:
        attempts = range(ATTEMPTS if MOVING in command.line else 1)
        assert any(_is_answered(command, board) for _ in attempts), command.line
    elif command.line.startswith(ASKING):
        _complete(_asking(command, board), clone)
    elif not _serves(command):
        _complete(command, clone)
    elif _is_offline(command, clone):
        _serve(command, clone)
    else:
        check = re.sub(
            r"\S*(oddsboard serve|scripts/serve)", ".venv/bin/oddsboard check-config", command.line
        )
        _complete(Command(check), clone)


def _asking(command: Command, board: Service) -> Command:
    """Return the command with the real address, and a fixture that is there."""
    fixtures = _fixtures(board)
    line = command.line.partition(" #")[0].rstrip().replace(" ID", f" {fixtures[0]['id']}")
    return Command(f"{line} --url {board.base}", command.shown)


def _fixtures(board: Service) -> list[dict[str, str]]:
    """Return the fixtures on the board; none before the first lists are there (503)."""
    answer = httpx2.get(f"{board.base}/api/v2/fixtures", trust_env=False)
    found: list[dict[str, str]] = answer.json()["fixtures"] if answer.status_code == httpx2.codes.OK else []
    return found


def _is_linked(board: Service) -> bool:
    """Return whether all bookmakers are live and all matches linked: requests then have full answers."""
    health = httpx2.get(f"{board.base}/health", trust_env=False).json()
    return health["status"] == "pass" and health["links"]["pending"] == 0 and bool(_fixtures(board))


def _serves(command: Command) -> bool:
    return bool(re.match(r"scripts/serve|\.venv/bin/oddsboard (serve|replay)\b", command.program))


def _is_offline(command: Command, clone: Path) -> bool:
    """Return whether the service uses no other host, because its odds are simulated or recorded."""
    config = re.search(r"--config (\S+)", command.line)
    return config is None or 'kind = "simulated"' in (clone / config[1]).read_text("utf-8")


def _complete(command: Command, clone: Path) -> None:
    """Run a command that must end with success."""
    done = _shell(command.line, clone)

    assert 0 == done.returncode, f"{command.line}\n{done.stdout}{done.stderr}"
    assert _is_shown(command, done.stdout), f"{command.line}\n{done.stdout}"


def _is_shown(command: Command, printed: str) -> bool:
    """Return whether a document shows what a command printed, if it shows anything."""
    if command.program.startswith(EXACT):
        return list(command.shown) in ([], printed.splitlines())
    return not command.shown or looks_like(command.shown, printed)


def _serve(command: Command, clone: Path) -> None:
    """Start the service on a free port, send it a request, and stop it."""
    line = command.line.partition(" #")[0].replace("--bind 127.0.0.1:8000", "").rstrip()
    with started([SHELL, "-c", f"exec {line} --bind 127.0.0.1:0"], clone) as service:
        response = httpx2.get(f"{service.base}/health/live", trust_env=False)

        assert (200, 0) == (response.status_code, service.stop())


def _is_answered(command: Command, board: Service) -> bool:
    """Run curl against the real board, with the present version."""
    now = VERSION.search(httpx2.head(f"{board.base}{LIST}", trust_env=False).headers.get("etag", ""))
    line = VERSION.sub(now[0] if now else "0", command.line).replace("http://127.0.0.1:8000", board.base)
    if " -sN " not in line:
        done = _shell(line, ROOT)
        return done.returncode == 0 and looks_like(command.shown, done.stdout)
    done = _shell(f"{line} --max-time {STREAM_S}", ROOT)
    return done.returncode in {0, CUT_BY_TIME} and looks_like(command.shown, done.stdout)


def _shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SHELL, "-c", line], cwd=folder, capture_output=True, text=True, timeout=RUN_S, check=False
    )

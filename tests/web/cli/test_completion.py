"""Completion of the command line, tested in the shells themselves if they are installed."""

from __future__ import annotations

import argparse
import os
import pty
import subprocess
from io import RawIOBase
from pathlib import Path
from shutil import which

import pytest

from web.cli.completion import SHELLS, script
from web.cli.main import _parser

ZSH = which("zsh") or ""


def _completed(*words: str) -> list[str]:
    """Return the words that bash offers for the last of the given words."""
    given = " ".join(f'"{word}"' for word in words)
    asking = f"""{script("bash", _parser())}
COMP_WORDS=({given}); COMP_CWORD={len(words) - 1}; _oddsboard; printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(
        ["/bin/bash", "--norc", "-c", asking], capture_output=True, text=True, check=True, timeout=20
    )
    return done.stdout.split()


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="needs bash")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("oddsboard", "serv"), {"serve"}),
        (("oddsboard", "check"), {"check-config", "check-program"}),
        (("oddsboard", "links", "s"), {"suggest", "stats"}),
        (("oddsboard", "serve", "--b"), {"--bind"}),
        (("oddsboard", "links", "suggest", "--l"), {"--limit"}),
        (("oddsboard", "serve", "--config", ""), set()),
        (("oddsboard", "archive", "export", "--format", "c"), {"csv"}),
        (("oddsboard", "archive", "info", ""), set()),
        (("oddsboard", "archive", "info", "-"), {"-h", "--help"}),
        (("oddsboard", "completion", ""), set(SHELLS)),
    ],
)
def test_bash_offers_commands_options_and_values(words: tuple[str, ...], offered: set[str]) -> None:
    """Bash offers commands, options after "-", and the values of an option; elsewhere it offers files."""
    assert offered == set(_completed(*words))


@pytest.mark.skipif(not ZSH, reason="needs zsh (Debian: apt-get install zsh)")
def test_zsh_completes_what_is_typed(tmp_path: Path) -> None:
    """Zsh completes a command, an option and a value from first letters and a tab, without a set-up."""
    (tmp_path / ".zshrc").write_text(
        f"{script('zsh', _parser())}\noddsboard() {{ print -r -- \"given: $*.\" }}\nPS1='ready '\n", "utf-8"
    )
    terminal, inside = pty.openpty()
    zsh = subprocess.Popen(
        [ZSH, "-d", "-i"],
        stdin=inside,
        stdout=inside,
        stderr=inside,
        start_new_session=True,
        env={"PATH": os.environ["PATH"], "ZDOTDIR": str(tmp_path), "TERM": "dumb"},
    )
    os.close(inside)
    with zsh, os.fdopen(terminal, "r+b", buffering=0) as shown:
        _read_until(shown, b"ready ")
        shown.write(b"oddsboard arch\tex\t--form\tpar\t\n")
        said = _read_until(shown, b".\r\n")
        zsh.kill()

    assert "given: archive export --format parquet." in said


def _read_until(shown: RawIOBase, end: bytes) -> str:
    said = b""
    while end not in said:
        said += shown.read(4096) or b""
    return said.decode()


def test_fish_offers_options_with_their_values() -> None:
    """The options of a command are offered after its name, and the values of an option after the option."""
    at = "'__fish_seen_subcommand_from archive; and __fish_seen_subcommand_from export'"

    assert f"complete -c oddsboard -n {at} -l format -x -a 'csv ndjson parquet'" in script(
        "fish", _parser()
    )


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_can_read_their_script(shell: str) -> None:
    """An installed shell reads the script without an error; the script has every command."""
    text = script(shell, _parser())

    commands = [action for action in _parser()._actions if isinstance(action, argparse._SubParsersAction)]
    assert set() == {name for name in commands[0].choices if name not in text}
    if which(shell) is None:
        pytest.skip(f"needs {shell} (Debian: apt-get install {shell})")
    done = subprocess.run(
        [shell, "-n"], input=text, capture_output=True, text=True, check=False, timeout=20
    )
    assert (0, "") == (done.returncode, done.stderr)

"""`oddsboard init`: the files that it writes, and the cases in which it refuses."""

from __future__ import annotations

import os
from errno import ENOSPC
from pathlib import Path

import pytest

from tests.support.source_code import ROOT
from tests.support.systems.process import Ended
from web.cli.examples import CONFIGURATIONS, EXAMPLES

KEYS = (
    *("THE_ODDS_API_KEY", "FIVE_DOLLAR_FOOTBALL_KEY"),
    *("BETFAIR_APP_KEY", "BETFAIR_USERNAME", "BETFAIR_PASSWORD"),
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("example", CONFIGURATIONS)
def test_an_example_is_a_valid_configuration(
    example: str, ended: Ended, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The written file equals the shipped file, with its comments, and is valid when its keys are set."""
    for key in KEYS:
        monkeypatch.setenv(key, "a-key")

    code, printed, err = ended("init", example, "--out", "mine.toml")
    checked, shown, _ = ended("check-config", "--config", "mine.toml")

    shipped = ROOT / "config" / f"{example}.toml"
    assert (0, "", shipped.read_bytes()) == (code, err, Path("mine.toml").read_bytes())
    assert "mine.toml: written; run it with: oddsboard serve --config mine.toml\n" == printed
    assert (0, True) == (checked, shown.startswith("mine.toml: valid\n"))
    assert shown.count("\n  bookmaker ") == shipped.read_text("utf-8").count("\n[bookmakers.")


def test_init_alone_writes_the_default(ended: Ended) -> None:
    """Only the owner may write the file, whatever the umask is: `serve` reads this file by default."""
    before = os.umask(0)
    try:
        printed = ended("init")
    finally:
        os.umask(before)

    text = "oddsboard.toml: written; run it with: oddsboard serve --config oddsboard.toml\n"
    assert (0, text, "") == printed
    assert (ROOT / "config/default.toml").read_bytes() == Path("oddsboard.toml").read_bytes()
    assert 0o644 == Path("oddsboard.toml").stat().st_mode & 0o777


@pytest.mark.parametrize("example", ["programs/json_feed.sh", "deploy/nginx.conf"])
def test_what_is_no_configuration_has_its_own_name(example: str, ended: Ended) -> None:
    """Programs stay executable, and the output does not say how to serve such a file."""
    shipped = ROOT / "config" / example

    assert (0, f"{shipped.name}: written\n", "") == ended("init", example)
    written = Path(shipped.name)
    assert shipped.read_bytes() == written.read_bytes()
    assert os.access(shipped, os.X_OK) == os.access(written, os.X_OK)


def test_no_file_is_overwritten_or_left_cut(ended: Ended, monkeypatch: pytest.MonkeyPatch) -> None:
    """An existing file or a missing folder is 78, a full disk is 74; each error is one line."""
    Path("mine.toml").write_text("# mine\n", "utf-8")
    there, nowhere = ended("init", "--out", "mine.toml"), ended("init", "--out", "no/mine.toml")

    def full(_: Path, __: int) -> None:
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "chmod", full)  # this step follows the writing of the file
    cut = ended("init", "--out", "other.toml")

    assert (78, "", "oddsboard: mine.toml: exists already; name another file with --out\n") == there
    assert "# mine\n" == Path("mine.toml").read_text("utf-8")
    assert (78, "", 1) == (*nowhere[:2], nowhere[2].count("\n"))
    assert "cannot be written: No such file or directory" in nowhere[2]
    assert (74, "", "oddsboard: other.toml: No space left on device\n") == cut
    assert not Path("other.toml").exists()


@pytest.mark.parametrize("example", ["nothing", "../default", "default.toml", ""])
def test_an_unknown_example_lists_the_examples(example: str, ended: Ended, folder: Path) -> None:
    """The exit code is 78, one line names the nearest example, and nothing is written."""
    named = ", ".join(EXAMPLES)
    near = "; did you mean 'default'?" if "default" in example else ""

    line = f"oddsboard: EXAMPLE was {example!r}, must be one of: {named}{near}\n"
    assert (78, "", line) == ended("init", example, "--out", "mine.toml")
    assert [] == [*folder.iterdir()]

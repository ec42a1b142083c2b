"""The choice of the configuration that `serve`, `record` and `check-config` read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from actors.core.errors import ConfigError
from web.cli.choosing import chosen
from web.cli.examples import CONFIGS


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, without a configuration in the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ODDSBOARD_CONFIG", raising=False)
    return tmp_path


def _local(mode: int = 0o644) -> None:
    Path("oddsboard.toml").write_text("", "utf-8")
    Path("oddsboard.toml").chmod(mode)


def test_what_is_named_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The order is: the command line, the environment, the file in the folder, the shipped example."""
    found = [chosen(None)]
    _local()
    found.append(chosen(None))
    monkeypatch.setenv("ODDSBOARD_CONFIG", "other.toml")
    found += [chosen(None), chosen(Path("mine.toml"))]

    assert [
        (CONFIGS / "default.toml", "default: simulated odds"),
        (Path("oddsboard.toml"), "./oddsboard.toml"),
        (Path("other.toml"), "$ODDSBOARD_CONFIG"),
        (Path("mine.toml"), "--config"),
    ] == found


@pytest.mark.parametrize("mode", [0o664, 0o646])
def test_a_file_that_others_may_write_must_be_named(mode: int) -> None:
    """A configuration may name a program to run, so others could run a program as this user."""
    _local(mode)

    with pytest.raises(ConfigError, match=r"can be written by others, .*; chmod go-w oddsboard\.toml, or"):
        chosen(None)
    assert (Path("oddsboard.toml"), "--config") == chosen(Path("oddsboard.toml"))


@pytest.mark.parametrize("is_link", [False, True])
def test_a_file_of_another_user_must_be_named(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_link: bool,  # noqa: FBT001 - a test case
) -> None:
    """A link to such a file is refused as well. A file of root is read: root can run programs anyway."""
    _local()
    if is_link:
        Path("oddsboard.toml").rename(folder / "theirs.toml")
        Path("oddsboard.toml").symlink_to(folder / "theirs.toml")
    owner = Path("oddsboard.toml").stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)

    if owner == 0:
        assert "./oddsboard.toml" == chosen(None)[1]
        os.chown("oddsboard.toml", 4711, 4711)
    with pytest.raises(ConfigError, match="belongs to another user, and a program in it would be run"):
        chosen(None)

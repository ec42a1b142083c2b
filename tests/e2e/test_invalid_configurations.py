"""An invalid configuration gives a line a fault on standard error and exit code 78 (faults.md, I8)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.builders.configurations import API, INVALID, INVALID_API, SPORTS, VALID
from web.__main__ import main


def _refused(
    config: Path, capsys: pytest.CaptureFixture[str], command: str = "check-config", faults: int = 1
) -> str:
    """Return the lines that are printed about `config`, a line a fault."""
    with pytest.raises(SystemExit) as ended:
        main([command, "--config", str(config)])

    out, err = capsys.readouterr()
    assert (78, "") == (ended.value.code, out)
    assert (faults, True) == (err.count("\n"), err.endswith("\n"))
    return err


@pytest.mark.parametrize("case", INVALID)
def test_an_invalid_configuration_is_refused_in_a_line_a_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    """It names the file and the key, and nothing is started."""
    old, new, key = INVALID[case]
    config = tmp_path / "broken.toml"
    config.write_text(VALID.replace(old, new, 1) if new else VALID.replace(old, ""), "utf-8")

    line = _refused(config, capsys, faults=2 if case == "no bookmaker" else 1)

    assert (True, True) == (str(config) in line, key in line)
    assert "Traceback" not in line


@pytest.mark.parametrize(
    ("content", "faults"),
    [
        *((b"\xff\xfe", 1), (b"", 2), (b"\x00", 1)),
        *((b"[sources]\n[bookmakers]\n", 1), (b"sources = 3\nbookmakers = 4\n", 2)),
    ],
)
def test_a_file_without_valid_content_is_refused_in_a_line_a_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, faults: int
) -> None:
    """The file is not UTF-8, empty, or has other content under our names."""
    config = tmp_path / "broken.toml"
    config.write_bytes(content)

    assert faults == _refused(config, capsys, faults=faults).count(f"oddsboard: {config}: ")


@pytest.mark.parametrize("name", ["missing.toml", ""])
def test_a_file_that_cannot_be_read_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """The path does not exist or is a folder, for both commands."""
    config = tmp_path / name

    assert str(config) in _refused(config, capsys)
    assert str(config) in _refused(config, capsys, "serve")


def test_the_unchanged_configuration_is_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All invalid configurations differ from this one in one place."""
    config = tmp_path / "valid.toml"
    config.write_text(VALID, "utf-8")

    with pytest.raises(SystemExit) as ended:
        main(["check-config", "--config", str(config)])

    assert 0 == ended.value.code
    assert f"{config}: valid" in capsys.readouterr().out


@pytest.mark.parametrize("case", INVALID_API)
def test_an_invalid_plan_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    """The line names the file and the key, and never contains the secret."""
    old, new, key = INVALID_API[case]
    config = tmp_path / "broken.toml"
    config.write_text(API.replace(old, new, 1), "utf-8")

    line = _refused(config, capsys)

    assert (True, True) == (str(config) in line, key in line)
    assert "s3cret" not in line


def test_a_valid_plan_is_printed_without_its_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The output shows what is polled, how often, and how fresh each sport will be."""
    config = tmp_path / "valid.toml"
    config.write_text(API.replace(SPORTS, f"{SPORTS}\ncredits_per_day = 16"), "utf-8")

    with pytest.raises(SystemExit) as ended:
        main(["check-config", "--config", str(config)])

    out, err = capsys.readouterr()
    assert (0, "") == (ended.value.code, err)
    assert ["every 3 h", "stale after 9 h"] == [
        part for part in ("every 3 h", "stale after 9 h") if part in out
    ]
    assert "s3cret" not in out

"""`oddsboard check-config`: its output for a valid configuration, and for faults (faults.md, I8)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.builders.configurations import API, LAST, SPORTS, URL, VALID
from tests.support.source_code import ROOT
from tests.support.systems.process import Ended

SECRETS = ("s3cr3t", 'it\'s "quoted"', "back\\slash", "two\nlines", "ümlaut\u202e")
TWINS = "".join(
    f'[bookmakers.{name}]\nname = "{shown}"\nsource = "feed"\nkey = "{key}"\n{{company}}\n'
    for name, shown, key in (("wh", "William Hill", "WH"), ("wh-two", "WilliamHill", "PS"))
)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Return the path of a configuration."""
    return tmp_path / "mine.toml"


def _checked(config: Path, text: str, ended: Ended) -> str:
    """Return the output for a valid configuration."""
    config.write_text(text, "utf-8")
    code, out, err = ended("check-config", "--config", config)
    assert (0, "") == (code, err)
    assert out.startswith(f"{config}: valid\n")
    return out


def test_an_invalid_configuration_is_a_line_a_fault(config: Path, ended: Ended) -> None:
    """Each line has the file and the key; tests/actors/service/test_all_faults.py tests all faults."""
    config.write_text(VALID.replace("10800", "0").replace("= 900", "= 0"), "utf-8")

    code, out, err = ended("check-config", "--config", config)

    assert (78, "") == (code, out)
    assert [
        f"oddsboard: {config}: board.expire_after_kickoff_s was 0",
        f"oddsboard: {config}: sources.feed.poll_interval_s was 0",
    ] == [line.split(",")[0] for line in err.splitlines()]


@pytest.mark.parametrize(
    ("content", "faults"),
    [
        *((b"\xff\xfe", 1), (b"", 2), (b"\x00", 1)),
        *((b"[sources]\n[bookmakers]\n", 1), (b"sources = 3\nbookmakers = 4\n", 2)),
        *((None, 1), ("a folder", 1)),
    ],
)
def test_what_is_no_configuration_is_a_line_a_fault(
    config: Path, ended: Ended, content: bytes | str | None, faults: int
) -> None:
    """Each line has the path of the file, even if the file does not exist."""
    if isinstance(content, str):
        config.mkdir()
    elif content is not None:
        config.write_bytes(content)

    for command in ("check-config", "serve"):
        code, out, err = ended(command, "--config", config)
        assert (78, "", faults) == (code, out, err.count("\n"))
        assert faults == err.count(f"oddsboard: {config}: ")


def test_a_plan_is_printed_without_its_key(config: Path, ended: Ended) -> None:
    """The output says which sports are polled, how often, and how fresh their prices will be."""
    out = _checked(config, API.replace(SPORTS, f"{SPORTS}\ncredits_per_day = 16"), ended)

    assert [True, True, False] == [said in out for said in ("every 3 h", "stale after 9 h", "s3cret")]


def test_an_archive_is_told(config: Path, ended: Ended) -> None:
    """The line of the archive has its folder and its limits; without an archive there is no such line."""
    deployed = (ROOT / "config/deploy/oddsboard.toml").read_text("utf-8")
    printed = [_checked(config, text, ended).splitlines() for text in (VALID, deployed)]

    assert [[], ["archive /var/lib/oddsboard/archive: 90 days, 10,737,418,240 bytes at most"]] == [
        [line for line in lines if line.startswith("archive")] for lines in printed
    ]


@pytest.mark.parametrize(
    ("change", "warning", "count"),
    [
        (("= 900", "= 900"), "warning", 0),
        (("= 900", "= 900\nstale_after_s = 60"), "withdrawn between polls", 1),
        ((LAST, f"{LAST}\n{TWINS.format(company='')}"), "wh and wh-two have the same name", 1),
        ((LAST, LAST + "\n" + TWINS.format(company='company = "bet"')), "the same name", 0),
    ],
)
def test_what_is_allowed_but_odd_is_a_warning(
    config: Path, ended: Ended, change: tuple[str, str], warning: str, count: int
) -> None:
    """If two bookmakers belong to one company, only one price counts; only the user knows the company."""
    assert count == _checked(config, VALID.replace(*change, 1), ended).count(warning)


def test_the_file_of_links_is_checked(config: Path, ended: Ended) -> None:
    """The decisions in the file of links are counted, and an error names its place in the file."""
    links = config.with_name("links.toml")
    links.write_text('[[team]]\nname = "a"\nalso = ["b"]', "utf-8")
    good = _checked(config, f'{VALID}\n[links]\nfile = "{links}"', ended)
    links.write_text('[[team]]\nname = "a"', "utf-8")
    _, _, bad = ended("check-config", "--config", config)

    assert f"{links}: teams 1, leagues 0, must 0, must_not 0\n" in good
    assert f"oddsboard: {config}: links.file: {links}: [[team]] 1.also is missing" in bad


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "change",
    [
        {URL: "https://x/?key=${A_SECRET}"},
        {URL: "https://x/?key=${A_SECRET}", "900": '"${A_SECRET}"'},
        {URL: "ftp://${A_SECRET}"},
        {URL: "${A_SECRET}"},
        {URL: "ftp://${LONGER}/${A_SECRET}"},
    ],
    ids=["valid", "interval", "scheme", "whole", "overlapping"],
)
def test_a_secret_is_never_printed(
    config: Path, ended: Ended, monkeypatch: pytest.MonkeyPatch, secret: str, change: dict[str, str]
) -> None:
    """A value from the environment is shown by its name, whether the configuration is valid or not.

    A secret that begins with another secret is not shown in part either.
    """
    monkeypatch.setenv("A_SECRET", secret)
    monkeypatch.setenv("LONGER", f"{secret}ghijkl")
    text = VALID
    for old, new in change.items():
        text = text.replace(old, new)
    config.write_text(text, "utf-8")

    _, out, err = ended("check-config", "--config", config)

    forms = (secret, repr(secret)[1:-1], ascii(secret)[1:-1], "ghijkl")
    assert [] == [form for form in forms if form in out + err]

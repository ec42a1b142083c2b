"""The allowed values of a configuration, in words: in errors, and in `oddsboard sources`."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.configuration.allowed import options_of
from actors.core.errors import ConfigError
from actors.markets.market import Kind
from actors.service.describe import kind_lines
from actors.service.registry import BUILT_IN, GROUP, kind_named
from actors.service.settings import load
from actors.source_api.options import Markets, SourceOptions
from tests.support.builders.configurations import API, SPORTS, VALID

KIND = 'kind = "football_data"'
SIMULATED = VALID.replace(KIND, 'kind = "simulated"').replace('key = "B365"', 'key = "sharp"')
SIMULATED = SIMULATED.replace('url = "http://127.0.0.1:9/fixtures.csv"\npoll_interval_s = 900\n', "")

LEAGUES = 'a list of at least one, each the key of a football league, like "soccer_epl", or "football"'


def _refused(folder: Path, text: str) -> str:
    config = folder / "wrong.toml"
    config.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as error:
        load(config, {})
    return str(error.value).removeprefix(f"{config}: ")


@pytest.mark.parametrize(
    ("base", "old", "new", "line"),
    [
        (VALID, "[sources.feed]", "[[sources]]", "must be tables, each [sources.NAME]"),
        (SIMULATED, 'kind = "simulated"', 'kind = "simulated"\nmatchs = 3', "; did you mean 'matches'?"),
        (
            SIMULATED,
            'kind = "simulated"',
            'kind = "simulated"\nspelling = "shrt"',
            """must be "plain" or "short" or "formal"; did you mean 'short'?""",
        ),
        (
            API,
            SPORTS,
            '"soccer_epl"',
            f"""was 'soccer_epl', must be {LEAGUES}; did you mean ["soccer_epl"]?""",
        ),
    ],
)
def test_error_says_what_is_allowed_and_what_is_nearest(
    base: str, old: str, new: str, line: str, tmp_path: Path
) -> None:
    """The error names the value that was found, the allowed values, and the nearest name that exists."""
    assert line in _refused(tmp_path, base.replace(old, new, 1))


@pytest.mark.parametrize(
    ("base", "old", "new"),
    [
        pytest.param(VALID, "bookmakers.bet365", 'bookmakers.""', id="the empty name of a table"),
        pytest.param(VALID, "http://127.0.0.1:9/fixtures.csv", "", id="no address"),
        pytest.param(VALID, "[server]", '[limits]\ntrusted_proxies = ""\n[server]', id="an empty list"),
        pytest.param(VALID, "[sources.feed]", "[sources.Feed]", id="a name that no source may have"),
    ],
)
def test_nothing_is_suggested_that_would_be_refused_again(
    base: str, old: str, new: str, tmp_path: Path
) -> None:
    """A suggested text differs from the text of the file, and is allowed in that place."""
    assert "did you mean" not in _refused(tmp_path, base.replace(old, new, 1))


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_option_is_explained(name: str) -> None:
    """Each option has a sentence, its allowed values and its default, all from the type that checks it."""
    options = [option for option in options_of(BUILT_IN[name].options).values() if option.name != "kind"]
    printed = "\n".join(kind_lines(name))

    assert [] == [option.name for option in options if not option.meaning.endswith(".")]
    assert [] == [
        option.name for option in options if f"{option.meaning} {option.allowed[:1].upper()}" not in printed
    ]
    assert [] == [
        word for word in ("Union", "Literal", "NoneType", "Spelling", "typing", "<") if word in printed
    ]


class _WithMarkets(SourceOptions, frozen=True, kw_only=True):
    markets: Markets = (Kind.ONE_X_TWO, Kind.BTTS)


def test_default_of_a_list_is_written_as_in_a_configuration() -> None:
    """The texts of the list have quotation marks, also the texts of a closed set."""
    assert '["1x2", "btts"]' == options_of(_WithMarkets)["markets"].default


def test_kinds_can_be_asked_for_by_name() -> None:
    """One kind or all kinds are listed; the error for an unknown name suggests the nearest name."""
    every, single = [*kind_lines()], [*kind_lines("replay")]

    assert [f"{name} (built in)" for name in BUILT_IN] == [line for line in every if "(built in)" in line]
    assert ["replay (built in)"] == [line for line in single if not line.startswith(" ")]
    assert "      Matches listed at a time. A whole number from 1 to 250,000." in every
    with pytest.raises(ConfigError, match="did you mean 'replay'"):
        list(kind_lines("repaly"))


def test_kind_that_two_packages_bring_is_not_misspelt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says that two packages bring this kind, and suggests no other kind with a similar name."""
    for package in ("one", "two"):
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", "utf-8")
        (info / "entry_points.txt").write_text(f"[{GROUP}]\nreplays = {package}:KIND\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(ConfigError) as error:
        kind_named("replays")
    assert "kind was 'replays', which 2 installed packages bring" in str(error.value)
    assert "did you mean" not in str(error.value)

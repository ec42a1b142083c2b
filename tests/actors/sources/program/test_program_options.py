"""The options of a program, and the JSON Schema of its lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from actors.source_api.options import credentials_of, secret_names
from actors.source_api.program import ProgramOptions, environment_of
from actors.sources.program.options import check, check_key
from actors.sources.program.schema import schema
from tests.support.builders.programs import MARKETS, item, without_odds
from tests.support.source_code import ROOT


def _options(**options: Any) -> ProgramOptions:
    return msgspec.convert({"kind": "program", "command": ["sh"], **options}, ProgramOptions)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"command": ["no-such-program"]}, "command was 'no-such-program'"),
        ({"command": ["sh"], "environment": {"PATH": "/nowhere"}}, "command was 'sh'"),
        ({"silence_s": 30}, "silence_s was 30, must be below stale_after_s, which is 30"),
        ({"environment": {"KEY": "a"}, "secrets": {"KEY": "b"}}, "secrets has KEY"),
    ],
)
def test_what_cannot_work_is_refused(options: dict[str, Any], why: str) -> None:
    """The error names the option; the default of `silence_s` is half of `stale_after_s`."""
    with pytest.raises(ValueError, match=why):
        check(_options(**options), ("program",))
    assert [15.0, 5.0] == [_options().longest_silence_s, _options(silence_s=5).longest_silence_s]


def test_a_script_that_cannot_be_executed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is not executable, does not exist, or is in this folder but named without `./`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "friend.py").write_text("#!/usr/bin/env python3\n", "utf-8")
    why = {}
    for file in ("./friend.py", "./fiend.py", "friend.py"):
        with pytest.raises(ValueError, match="command was ") as caught:
            check(_options(command=[file]), ("program",))
        why[file] = str(caught.value).partition(", ")[2]

    advice = "chmod +x ./friend.py, or name its interpreter before it"
    assert {
        "./friend.py": f"which has no right to be executed: {advice}",
        "./fiend.py": "which is no file",
        "friend.py": "which is no program in the PATH of its environment; did you mean './friend.py'?",
    } == why


def test_what_no_process_can_have_is_refused() -> None:
    """No command, a NUL in a command, a bad name of a variable, or a wrong bookmaker key is refused."""
    odd: list[dict[str, Any]] = [{"command": []}, {"command": ["a\0"]}, {"environment": {"A=B": "c"}}]
    for options in odd:
        with pytest.raises(msgspec.ValidationError):
            _options(**options)
    check_key("program")
    with pytest.raises(ValueError, match="must be 'program'"):
        check_key("other")


def test_the_environment_is_hidden_and_its_secrets_are_credentials() -> None:
    """The environment and the secrets are not shown; other texts are cleared of the secrets as well."""
    options = _options(environment={"PLACE": "here"}, secrets={"KEY": "hidden key"})
    check(options, ("program",))

    assert {"environment", "secrets"} == secret_names(ProgramOptions)
    assert {"hidden%20key", "hidden key", "hidden+key"} == {*credentials_of(options)}
    assert {"PLACE": "here", "KEY": "hidden key"} == environment_of(options)


FILE = ROOT / "docs" / "program.schema.json"


def test_the_document_is_generated() -> None:
    """The document equals the output of `oddsboard check-program --schema`."""
    assert json.loads(FILE.read_text("utf-8")) == schema()


@pytest.mark.parametrize(
    ("fields", "is_valid"),
    [
        ({"type": "list", "id": "1", "matches": [item(), item(home=2.2)]}, True),
        ({"type": "match", "id": "1", **item()}, True),
        ({"type": "upsert", **item(), "note": "more"}, True),
        ({"type": "end", "id": "1", "count": 1}, True),
        ({"type": "withdraw"}, True),
        ({"type": "list", "id": "1", "matches": [item(home="2,10")]}, False),
        ({"type": "match", "id": "1"}, False),
        ({"type": "upsert", **item(odds={"one": 2.1})}, False),
        ({"type": "end", "id": "1", "count": -1}, False),
        ({"type": "hello"}, False),
        ({"type": "upsert", **item(markets=MARKETS)}, True),
        ({"type": "upsert", **without_odds(markets=MARKETS)}, True),
        ({"type": "upsert", **without_odds()}, False),
        ({"type": "upsert", **item(markets={"over_under:2.50": {"over": 1.9, "under": 1.9}})}, False),
        ({"type": "upsert", **item(markets={"asian_handicap:+1": {"home": 1.9, "away": 1.9}})}, False),
        ({"type": "upsert", **item(markets={"btts": {"yes": 1.9}})}, False),
        ({"type": "upsert", **item(markets={"corners:9.5": {"over": 1.9, "under": 1.9}})}, False),
    ],
)
def test_it_says_what_is_valid(fields: dict[str, Any], is_valid: bool) -> None:  # noqa: FBT001 - a case
    """The schema checks every type of line, and the match in a line."""
    validator = jsonschema.Draft202012Validator(schema())

    assert is_valid == validator.is_valid({"list": "epl", **fields})

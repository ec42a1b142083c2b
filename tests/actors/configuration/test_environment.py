"""References to environment variables, and dollar signs that begin no reference."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from actors.configuration.environment import expanded

VARIABLES = {"KEY": "se$ret", "HOME": "/root"}


def _expanded(value: Any) -> tuple[Any, list[str]]:
    faults: list[str] = []
    return expanded(value, VARIABLES, {}, faults, ""), faults


@pytest.mark.parametrize(
    ("text", "meant"),
    [("${KEY}", "se$ret"), ("pa$$word", "pa$word"), ("$${KEY}", "${KEY}"), ("$$${KEY}$$", "$se$ret$")],
)
def test_two_dollars_are_one(text: str, meant: str) -> None:
    """`$$` also escapes a reference; the value of a variable may have any dollar signs."""
    assert (meant, []) == _expanded(text)


@pytest.mark.parametrize("text", ["$KEY", "${KEY", "${KEY:-abc}", "a$", "$1", "${}", "${NOT-A-NAME}"])
def test_a_dollar_of_a_reference_that_is_none_is_a_fault(text: str) -> None:
    """A shell would expand some of these texts; here the text itself would be sent to a venue as a key."""
    found, faults = _expanded({"sources": {"api": {"api_key": text}}})
    meant = "; did you mean ${KEY}?" if "$KEY" in text or "${KEY" in text else ""

    assert {"sources": {"api": {"api_key": UNSET}}} == found
    assert [
        f"sources.api.api_key has a $ that begins no ${{NAME}}, must be $$ for a dollar{meant}"
    ] == faults


def test_arguments_of_a_command_may_have_dollars() -> None:
    """The dollar signs in a command are for the shell."""
    given = {"sources": {"own": {"command": ["sh", "-c", "echo $HOME ${KEY} ${X:-1}"]}}}
    found, faults = _expanded(given)

    assert ("echo $HOME se$ret ${X:-1}", []) == (found["sources"]["own"]["command"][2], faults)

"""The JSON Schema of a program's lines: the document is what the code reads."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from actors.sources.program.schema import schema
from tests.support.builders.programs import MARKETS, item, without_odds
from tests.support.source_code import ROOT

FILE = ROOT / "docs" / "program.schema.json"


def test_the_document_is_generated() -> None:
    """It is what `oddsboard check-program --schema` prints."""
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
    """Of every type of line, and of a match in it."""
    validator = jsonschema.Draft202012Validator(schema())

    assert is_valid == validator.is_valid({"list": "epl", **fields})

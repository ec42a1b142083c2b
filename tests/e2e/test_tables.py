"""Tables as strangers send them, in the real service: a guessed configuration, and prices over HTTP."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders.strangers import EVERY, OFFSETS, Sent
from tests.support.systems.process import Service, ran, service
from tests.support.time.waiting import eventually


def _configured(sent: Sent, folder: Path, **more: str) -> Path:
    """Write a table and the configuration that is guessed of it, with what it asks for."""
    table, config = folder / sent.name, folder / "mine.toml"
    table.write_bytes(sent.body)
    code, out, err = ran("-m", "web", "init", "table", str(table), "--out", str(config))
    assert (0, "") == (code, err)
    assert all(name in out for name in sent.asked)
    text = config.read_text("utf-8")
    for name, value in sent.asked.items():
        text = text.replace(f'{name} = ""', f'{name} = "{value}"')
    for name, value in {"poll_interval_s": "0.2", **more}.items():
        text = re.sub(f"^{name} = .*\n", "", text, flags=re.MULTILINE)
        text = text.replace('kind = "table"\n', f'kind = "table"\n{name} = {value}\n')
    config.write_text("[server]\ndrain_s = 0.0\n" + text, "utf-8")
    return config


def _shown(running: Service) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for match in running.get("/api/v2/odds").json().get("matches", ()):
        prices = tuple(match["odds"][side] for side in ("1", "X", "2"))
        seen = match["home"], match["away"], match["start_time"], prices
        found.setdefault(match["id"].partition("_")[0], []).append(seen)
    return {bookmaker: sorted(matches) for bookmaker, matches in found.items()}


def _expected(sent: Sent) -> dict[str, list[Any]]:
    return {bookmaker: sorted(matches) for bookmaker, matches in sent.shown.items()}


@pytest.mark.parametrize("sent", EVERY, ids=lambda sent: sent.name)
def test_what_a_stranger_sends_is_shown(sent: Sent, tmp_path: Path) -> None:
    """Every price of the table is at its match, and nothing else is."""
    with service(_configured(sent, tmp_path)) as running:
        running.wait_ready()
        eventually(lambda: _shown(running) == _expected(sent), "all prices are shown")


def _replaced(table: Path, body: bytes) -> None:
    beside = table.with_suffix(".new")
    beside.write_bytes(body)
    beside.replace(table)


def _written_slowly(table: Path, body: bytes) -> None:
    with table.open("wb", buffering=0) as file:
        for byte in body:
            file.write(bytes([byte]))
            time.sleep(0.01)


@pytest.mark.parametrize("write", [_replaced, _written_slowly])
def test_a_table_that_changes_shows_no_price_of_neither(
    write: Callable[[Path, bytes], None], tmp_path: Path
) -> None:
    """While another program writes it again and again, each price is that of one table or the other."""
    bodies = OFFSETS.body, OFFSETS.body.replace(b"2.1,3.4,3.6", b"2.2,3.3,3.5").replace(b"1.8,", b"18.75,")
    allowed = {
        "Leeds": {(2.1, 3.4, 3.6), (2.2, 3.3, 3.5)},
        "Torino": {(1.8, 3.5, 4.75), (18.75, 3.5, 4.75)},
    }
    table, seen, is_over = tmp_path / OFFSETS.name, set[tuple[str, Any]](), threading.Event()

    def write_on() -> None:
        while not is_over.is_set():
            for body in bodies:
                write(table, body)
                is_over.wait(2.5)

    with service(_configured(OFFSETS, tmp_path, book_sum_min="0.5")) as running:
        running.wait_ready()
        writer = threading.Thread(target=write_on)
        writer.start()

        def is_each_seen() -> bool:
            seen.update((home, prices) for home, _, _, prices in _shown(running).get("alpha", ()))
            return len(seen) >= 4

        try:
            eventually(is_each_seen, "both tables are shown")
        finally:
            is_over.set()
            writer.join()

    assert [] == [(home, prices) for home, prices in seen if prices not in allowed[home]]


def test_live_prices_leave_with_the_age_of_their_file(tmp_path: Path) -> None:
    """A program that has died writes no more: what it wrote last is not believed for ever."""
    config = _configured(OFFSETS, tmp_path, prices='"live"', stale_after_s="5.0")
    table = tmp_path / OFFSETS.name
    with service(config) as running:
        os.utime(table, (time.time() - 3600, time.time() - 3600))
        eventually(lambda: running.events("source.down"), "it is down")
        down = running.events("source.down")[-1]["error"]
        eventually(lambda: running.get("/api/v2/odds").status_code == 503, "nothing is shown")

        def is_back() -> bool:
            if time.time() - table.stat().st_mtime > 2.5:
                table.touch()
            return _shown(running) == _expected(OFFSETS)

        eventually(is_back, "all prices are back when it is written again")

    assert "its file was written 36" in down
    assert "s ago, its prices hold for 5 s" in down

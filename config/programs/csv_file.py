#!/usr/bin/env python3
"""Prints the matches of a CSV file: csv_file.py FILE, with the columns of COLUMNS in its first line.

More columns may be of other markets, named as "over_under:2.5 over" or "btts no".
The prices are as of the time at which another program wrote the file, and count for `stale_after_s` of the
source: 900 for a file each 10 minutes. That program writes under another name and renames the file then, so
that it is never read half-written.
"""

import csv
import json
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

COLUMNS = "match,home,away,league,start,one,draw,two"
path, before, number = Path(sys.argv[1]), 0.0, 0
while True:
    written = path.stat().st_mtime if path.exists() else 0.0
    as_of = datetime.fromtimestamp(written, UTC).isoformat()
    line: dict[str, object] = {"type": "alive", "list": "file", "as_of": as_of}
    if not written:
        line = {"type": "withdraw", "list": "file", "reason": f"there is no file {path}"}
    elif written != before:
        with path.open(encoding="utf-8-sig") as file:  # spreadsheets begin a file with a mark
            rows: list[dict[str, object]] = [
                {name: cell for name, cell in row.items() if cell} for row in csv.DictReader(file)
            ]
        for row in rows:
            odds = {name: row.pop(name, None) for name in ("one", "draw", "two")}
            if any(odds.values()):
                row["odds"] = odds
            markets: dict[str, dict[str, object]] = {}
            for column in [name for name in row if " " in str(name)]:
                market, _, outcome = column.partition(" ")
                markets.setdefault(market, {})[outcome] = row.pop(column)
            row["markets"] = markets
        number += 1
        line = {"type": "list", "list": "file", "id": str(number), "as_of": as_of, "matches": rows}
    before = written
    print(json.dumps(line), flush=True)
    time.sleep(2)

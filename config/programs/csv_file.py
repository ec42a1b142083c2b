#!/usr/bin/env python3
"""Prints the matches of a CSV file: csv_file.py FILE, with the columns of COLUMNS in its first line.

They are on offer as long as another program writes the file once a minute: under another name and then
renamed, so that it is never read half-written.
"""

import csv
import json
import sys
import time
from pathlib import Path

COLUMNS = "match,home,away,league,start,one,draw,two"
path, before, number = Path(sys.argv[1]), 0.0, 0
while True:
    written = path.stat().st_mtime if path.exists() else 0.0
    line: dict[str, object] = {"type": "alive", "list": "file"}
    if time.time() - written > 60:
        line = {"type": "withdraw", "list": "file", "reason": "the file is old"}
    elif written != before:
        with path.open(encoding="utf-8-sig") as file:  # spreadsheets begin a file with a mark
            rows: list[dict[str, object]] = [
                {name: cell for name, cell in row.items() if cell} for row in csv.DictReader(file)
            ]
        for row in rows:
            row["odds"] = {name: row.pop(name, None) for name in ("one", "draw", "two")}
        before, number = written, number + 1
        line = {"type": "list", "list": "file", "id": str(number), "matches": rows}
    print(json.dumps(line), flush=True)
    time.sleep(2)

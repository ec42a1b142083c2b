"""The kind of a program that prints lists of matches; the protocol is in `wire`. Pure."""

from __future__ import annotations

from actors.source_api.program import ProgramKind, ProgramOptions
from actors.sources.program.lists import Lists
from actors.sources.program.options import check, check_key

KIND = ProgramKind("program", ProgramOptions, check_key, check, Lists)

"""Checks a program's options. Pure."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from actors.source_api.program import ProgramOptions, environment_of


def check_key(key: str) -> None:
    """Raise ValueError unless `key` is "program", the single bookmaker of a program."""
    if key != "program":
        raise ValueError(f"key was {key!r}, must be 'program'")


def check(options: ProgramOptions, keys: tuple[str, ...]) -> None:
    """Raise ValueError, naming the option, for options that cannot work together."""
    del keys
    file = options.command[0]
    if shutil.which(file, path=environment_of(options).get("PATH", os.defpath)) is None:
        raise ValueError(f"command was {file!r}, {_why_not(file)}")
    if options.longest_silence_s >= options.staleness_s:
        raise ValueError(
            f"silence_s was {options.longest_silence_s:g}, must be below stale_after_s,"
            f" which is {options.staleness_s:g}"
        )
    if both := options.environment.keys() & options.secrets.keys():
        raise ValueError(f"secrets has {min(both)}, which environment has already")


def _why_not(file: str) -> str:
    """Return why a file cannot be started as a program, or ""."""
    if os.sep not in file:
        near = f"; did you mean './{file}'?" if Path(file).is_file() else ""
        return f"which is no program in the PATH of its environment{near}"
    if Path(file).is_file():
        return f"which has no right to be executed: chmod +x {file}, or name its interpreter before it"
    return "which is no file"

"""Checks of a program's options. Pure."""

from __future__ import annotations

from actors.source_api.program import ProgramOptions


def check_key(key: str) -> None:
    """Raise ValueError unless `key` is "program": a program is the source of a single bookmaker."""
    if key != "program":
        raise ValueError(f"key was {key!r}, must be 'program'")


def check(options: ProgramOptions, keys: tuple[str, ...]) -> None:
    """Raise ValueError, naming the option, for options that cannot work together."""
    del keys
    if not options.command[0]:
        raise ValueError("command was an empty name, must be a file to run")
    if options.longest_silence_s >= options.staleness_s:
        raise ValueError(
            f"silence_s was {options.longest_silence_s:g}, must be below stale_after_s,"
            f" which is {options.staleness_s:g}"
        )
    if both := options.environment.keys() & options.secrets.keys():
        raise ValueError(f"secrets has {min(both)}, which environment has already")

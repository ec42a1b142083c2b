"""Fuzzes one target in this process; `fuzz_parsers.py` starts it. Writes its counts into a file.

The fuzzer never returns: it ends the process, with an exit code that is not 0 if the target raised.
"""

from __future__ import annotations

import os
import sys
import time
from importlib import import_module
from pathlib import Path
from random import Random

from msgspec import Struct, json

PACKAGES = ["actors", "web", "tomllib", "ipaddress", "email", "urllib.parse"]
OWN_CHANGES = 6  # on average, every sixth change to an input is our own, and keeps its structure


class Work(Struct, frozen=True):
    """The work of one process: a target, and a limit of inputs or seconds."""

    target: str
    result: str
    inputs: int
    seconds: float
    flags: tuple[str, ...]


class Done(Struct):
    """The counts of one process."""

    inputs: int = 0
    seconds: float = 0.0
    prices: int = 0
    invalid: int = 0


def main() -> None:
    """Run the work that the first argument describes as JSON."""
    work = json.decode(sys.argv[1], type=Work)
    atheris = import_module("atheris")  # installed only in .venv-fuzz
    with atheris.instrument_imports(include=PACKAGES):
        targets = import_module("tests.support.fuzzing.targets").targets()
    mutated = import_module("tests.support.fuzzing.mutation").mutated
    target = targets[work.target]
    done, began = Done(), time.perf_counter()
    tokens = target.all_tokens

    def save() -> None:
        done.seconds = time.perf_counter() - began
        Path(work.result).write_bytes(json.encode(done))

    def try_input(data: bytes) -> None:
        done.inputs += 1
        try:
            done.prices += target.run(data)
        except BaseException as error:
            done.invalid += type(error).__name__ == "InvalidPriceError"
            save()
            raise
        is_over = done.inputs % 64 == 0 and time.perf_counter() - began >= work.seconds
        if is_over or done.inputs >= work.inputs:
            save()
            os._exit(0)  # the fuzzer has already stored its findings

    def changed(data: bytes, max_bytes: int, seed: int) -> bytes:
        is_own = seed % OWN_CHANGES == 0
        made: bytes = mutated(data, Random(seed), tokens) if is_own else atheris.Mutate(data, max_bytes)
        return made[:max_bytes]

    atheris.Setup([sys.argv[0], *work.flags], try_input, custom_mutator=changed)
    atheris.Fuzz()


if __name__ == "__main__":
    main()

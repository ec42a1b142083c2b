"""All targets by name: every parser of input from outside."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from tests.support.fuzzing import files, keyed, keyless, linking, polled, pushed, requests
from tests.support.fuzzing.target import Target


@cache
def targets() -> Mapping[str, Target]:
    """Return every target by its name."""
    parts = (polled, keyed, keyless, pushed, requests, linking, files)
    return {target.name: target for part in parts for target in part.targets()}

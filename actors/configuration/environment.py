"""The references ${NAME} of a configuration to its environment, whose values errors never show. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import UNSET

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def is_variable(text: str) -> bool:
    """Return whether a text is one reference, and nothing else."""
    return _VARIABLE.fullmatch(text) is not None


def expanded(
    value: Any, environment: Mapping[str, str], used: dict[str, str], faults: list[str], at: str
) -> Any:
    """Replace ${NAME} in every string from the environment; `used` gets the name of each value.

    A string with a name that is not set becomes UNSET, a fault.
    """
    if isinstance(value, dict):
        return {
            key: expanded(item, environment, used, faults, f"{at}.{key}".lstrip("."))
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [expanded(item, environment, used, faults, at) for item in value]
    if not isinstance(value, str):
        return value
    if missing := [name for name in _VARIABLE.findall(value) if name not in environment]:
        faults += [f"{at} refers to ${{{name}}}, which is not set in the environment" for name in missing]
        return UNSET

    def replacement(found: re.Match[str]) -> str:
        content = environment[found[1]]
        if content:
            used[content] = found[0]
        return content

    return _VARIABLE.sub(replacement, value)


def masked(message: str, secrets: Mapping[str, str]) -> str:
    """Replace values from the environment by their names, should a message quote them."""
    for secret in sorted(secrets, key=len, reverse=True):
        for form in (secret, repr(secret)[1:-1], ascii(secret)[1:-1]):
            message = message.replace(form, secrets[secret])
    return message

"""Replaces ${NAME} in a configuration by values of the environment, which errors never show. Pure.

In a text $$ stands for a dollar sign. The arguments of `command` may have single dollars, for a shell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import UNSET

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_DOLLAR = re.compile(rf"\$\$|{_VARIABLE.pattern}|\$")
_COMMAND = re.compile(r"(sources|receivers)\.[^.]+\.command")


def is_variable(text: str) -> bool:
    """Return whether a text is one ${NAME} and nothing else."""
    return _VARIABLE.fullmatch(text) is not None


def expanded(
    value: Any, environment: Mapping[str, str], used: dict[str, str], faults: list[str], at: str
) -> Any:
    """Replace ${NAME} in every string from the environment; `used` gets the reference by each value.

    A string with an unset name, or with a single dollar, becomes UNSET, and `faults` gets a sentence.
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
    dollars = [*_DOLLAR.finditer(value)]
    missing = [found[1] for found in dollars if found[1] not in {None, *environment}]
    wrong = [f"{at} refers to ${{{name}}}, which is not set in the environment" for name in missing]
    if _COMMAND.fullmatch(at) is None and any(found[0] == "$" for found in dollars):
        near = _suggestion(value, environment)
        wrong.append(f"{at} has a $ that begins no ${{NAME}}, must be $$ for a dollar{near}")
    if wrong:
        faults += wrong
        return UNSET

    def replacement(found: re.Match[str]) -> str:
        if found[1] is None:
            return "$"
        content = environment[found[1]]
        if content:
            used[content] = found[0]
        return content

    return _DOLLAR.sub(replacement, value)


def _suggestion(text: str, environment: Mapping[str, str]) -> str:
    """Suggest ${NAME} for $NAME, but only if it is set: any other text could be a secret."""
    found = re.match(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)", text)
    return f"; did you mean ${{{found[1]}}}?" if found and found[1] in environment else ""


def masked(message: str, secrets: Mapping[str, str]) -> str:
    """Replace values of the environment in a message by their references."""
    for secret in sorted(secrets, key=len, reverse=True):
        for form in (secret, repr(secret)[1:-1], ascii(secret)[1:-1]):
            message = message.replace(form, secrets[secret])
    return message
